/** The prices of a day as a small line, scaled from lowest to highest, with a break where there was no price. */
import { Spark, SPARK_WIDTH } from '../parts/spark.tsx'

type Props = { readonly prices: readonly (number | null)[]; readonly about: string }

const HEIGHT = 24
const INSET = 2

export function PriceLine({ prices, about }: Props) {
  const known = prices.filter(price => price !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const step = SPARK_WIDTH / Math.max(1, prices.length - 1)
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
    <Spark height={HEIGHT} about={about}>
      <path d={path} />
    </Spark>
  )
}
