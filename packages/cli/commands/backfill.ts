/** `assay backfill`: scans past blocks of a chain for pools and their events; resumes where it stopped. */
import type { BackfillProgress } from '@assay/server/backfill'
import { Command } from 'commander'
import { installedConfig, whole, withInstalled } from '../options.ts'
import { Progress } from '../terminal/progress.ts'
import { duration } from '../terminal/words.ts'

type Options = {
  readonly config?: string
  readonly chain: number
  readonly from?: number
  readonly to?: number
  readonly json?: boolean
}

export const backfillCommand = (): Command =>
  withInstalled(new Command('backfill'))
    .description('scan past blocks of a chain for pools and their events; resumes where it stopped')
    .requiredOption('--chain <id>', 'the chain', whole)
    .option('--from <block>', 'first block of a new scan; by default that of the first deployment', whole)
    .option('--to <block>', 'last block; by default the finalized one', whole)
    .action(runBackfill)

async function runBackfill(options: Options): Promise<void> {
  const { backfillIn } = await import('@assay/server/backfill')
  const config = await installedConfig(options)
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort(new Error('stopped; run it again to resume')))
  const bounds = {
    ...(options.from === undefined ? {} : { fromBlock: options.from }),
    ...(options.to === undefined ? {} : { toBlock: options.to }),
  }
  const bar = new Progress('Scanning')
  const show = (progress: BackfillProgress) => {
    if (options.json === true) console.log(JSON.stringify(progress))
    else bar.show(shareOf(progress), wordsOf(progress))
  }
  try {
    const done = await backfillIn(config, options.chain, bounds, stopping.signal, show)
    bar.end()
    if (options.json !== true)
      console.log(`Done: blocks ${done.from_block} to ${done.to_block}, ${done.events} events.`)
  } finally {
    bar.end()
  }
}

const shareOf = ({ from_block, to_block, next_block }: BackfillProgress): number =>
  (next_block - from_block) / Math.max(1, to_block - from_block + 1)

function wordsOf({
  to_block,
  next_block,
  events,
  pools_found,
  blocks_per_s,
  eta_s,
  waiting,
}: BackfillProgress): string {
  if (waiting !== null) return `block ${next_block - 1} of ${to_block}, waiting: ${waiting}`
  const left = eta_s === null ? 'unknown' : duration(eta_s * 1000)
  return `block ${next_block - 1} of ${to_block}, ${blocks_per_s} blocks/s, ${left} left, ${events} events, ${pools_found} pools found`
}
