/** A small line without axes, with a text alternative. */
import { Spark, SPARK_WIDTH } from './spark.tsx'

type Props = { readonly values: readonly number[]; readonly about: string; readonly slots: number }

const HEIGHT = 28

export function Sparkline({ values, about, slots }: Props) {
  const top = Math.max(...values, 1)
  const step = SPARK_WIDTH / (slots - 1)
  const from = SPARK_WIDTH - (values.length - 1) * step
  const points = values.map(
    (value, at) =>
      `${(from + at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
  )
  return (
    <Spark height={HEIGHT} about={about}>
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </Spark>
  )
}
