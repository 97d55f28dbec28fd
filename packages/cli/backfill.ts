/** `assay backfill`: scans the past of a chain for pools and their events; cut short, it goes on where it was. */
import { backfillIn, type BackfillProgress } from '@assay/server/backfill'
import { configOf } from './configOf.ts'

type Options = {
  readonly config?: string
  readonly chain: number
  readonly from?: number
  readonly to?: number
  readonly json?: boolean
}

export async function runBackfillCommand(options: Options): Promise<void> {
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort(new Error('stopped; run it again and it goes on from there')))
  const bounds = {
    ...(options.from === undefined ? {} : { fromBlock: options.from }),
    ...(options.to === undefined ? {} : { toBlock: options.to }),
  }
  const isLive = process.stdout.isTTY && options.json !== true
  const show = (progress: BackfillProgress) => {
    if (options.json === true) console.log(JSON.stringify(progress))
    else if (isLive) process.stdout.write(`\r\u001B[2K${line(progress)}`)
    else console.log(line(progress))
  }
  const done = await backfillIn(configOf(options), options.chain, bounds, stopping.signal, show)
  if (isLive) process.stdout.write('\n')
  if (options.json !== true)
    console.log(`Done: blocks ${done.from_block} to ${done.to_block}, ${done.events} events.`)
}

function line(progress: BackfillProgress): string {
  const { from_block, to_block, next_block, events, pools_found, blocks_per_s, eta_s } = progress
  const share = ((next_block - from_block) / Math.max(1, to_block - from_block + 1)) * 100
  const eta = eta_s === null ? 'unknown' : eta_s < 120 ? `${eta_s} s` : `${Math.round(eta_s / 60)} min`
  return `block ${next_block - 1} of ${to_block} (${share.toFixed(1)}%), ${blocks_per_s} blocks/s, ${eta} left, ${events} events, ${pools_found} pools found`
}
