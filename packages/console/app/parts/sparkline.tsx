/** A small line without axes, with a text alternative. */
type Props = { readonly values: readonly number[]; readonly about: string; readonly slots: number }

const WIDTH = 120
const HEIGHT = 28

export function Sparkline({ values, about, slots }: Props) {
  const top = Math.max(...values, 1)
  const step = WIDTH / (slots - 1)
  const from = WIDTH - (values.length - 1) * step
  const points = values.map(
    (value, at) =>
      `${(from + at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
  )
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={about}
    >
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  )
}
