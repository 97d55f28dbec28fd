/**
 * `npm run test:cost -- [--markets 10000] [--from 1]`: another search for cheap ways to move a price, on many small
 * markets. It prints the worst and exits with 1 if one costs less than 0.8 of the plan that `GET /v1/cost` would
 * report.
 */
import { contest, type Outcome } from '../packages/engine/testing/rival.ts'
import { commandLine, misused } from './commandLine.ts'

const LEAST_SHARE = 0.8
const SHOWN = 10

const USAGE = `npm run test:cost -- [--markets N] [--from SEED]
  --markets  how many; 10000 by default
  --from     the seed of the first`

const { values } = commandLine(USAGE, {
  options: { markets: { type: 'string', default: '10000' }, from: { type: 'string', default: '1' } },
})
const [markets, from] = [Number(values.markets), Number(values.from)]
if (!Number.isSafeInteger(markets) || markets < 1 || !Number.isSafeInteger(from))
  misused(
    USAGE,
    `--markets ${values.markets} --from ${values.from}: expected whole numbers, --markets above 0`,
  )

const outcomes: Outcome[] = []
let tried = 0
let least = Infinity
for (let seed = from; seed < from + markets; seed++) {
  const outcome = contest(seed)
  tried++
  if (outcome !== null) {
    outcomes.push(outcome)
    least = Math.min(least, outcome.share ?? least)
  }
  if (tried % 500 === 0)
    console.log(
      `${tried} markets, ${outcomes.length} with a price that is believed, the least share ${least.toFixed(3)}`,
    )
}
const compared = outcomes
  .filter(({ share }) => share !== null)
  .sort((a, b) => (a.share ?? 0) - (b.share ?? 0))
const below = compared.filter(({ share }) => (share ?? 0) < LEAST_SHARE)
console.log(
  `${tried} markets, ${outcomes.length} with a price that is believed; no plan of ours in ${outcomes.filter(({ ownUsd }) => ownUsd === null).length}, none of the rival's in ${outcomes.length - compared.length}`,
)
for (const { seed, move, ownUsd, rival, share } of compared.slice(0, SHOWN))
  console.log(
    `seed ${seed}: ${move.isUp ? '+' : '-'}${move.bps} bps, ours ${ownUsd ?? 'none'} USD, the rival's ${rival?.lossUsd} USD, ${share?.toFixed(3)}: ${JSON.stringify(rival?.pushes)}`,
  )
console.log(`${below.length} below ${LEAST_SHARE}`)
process.exitCode = below.length === 0 ? 0 : 1
