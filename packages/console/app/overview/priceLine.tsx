/** The prices of a day as a small line, scaled from lowest to highest, with a break where there was no price. */
type Props = { readonly prices: readonly (number | null)[]; readonly about: string }

const WIDTH = 120
const HEIGHT = 24
const INSET = 2

export function PriceLine({ prices, about }: Props) {
  const known = prices.filter(price => price !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const step = WIDTH / Math.max(1, prices.length - 1)
  // A price that has not moved is a line through the middle.
  const yOf = (price: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - INSET - ((price - low) / (high - low)) * (HEIGHT - 2 * INSET)
  let path = ''
  for (const [at, price] of prices.entries()) {
    if (price === null) continue
    const isStart = at === 0 || prices[at - 1] === null
    const point = `${(at * step).toFixed(1)} ${yOf(price).toFixed(1)}`
    // A single hour is a short dash.
    path += isStart ? `M${point}h${prices[at + 1] == null ? -step / 2 : 0}` : `L${point}`
  }
  if (path === '') return null
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={about}
    >
      <path d={path} />
    </svg>
  )
}
