/** `assay capture`: writes headers and receipts of blocks to files, exactly as an endpoint returned them. */
import type { CaptureProgress } from '@assay/server/capture'
import { Command, InvalidArgumentError } from 'commander'
import { EXIT, Failure } from '../exit.ts'
import { configOf, whole, withConfig } from '../options.ts'
import { Progress } from '../terminal/progress.ts'
import { print } from '../terminal/print.ts'

type Range = { readonly from: number; readonly to: number }
type Options = {
  readonly config?: string
  readonly chain: number
  readonly blocks: Range
  readonly to: string
  readonly json?: boolean
}

/** Two files per block: a folder with more files is hard to handle. */
const MOST_BLOCKS = 100_000

export const captureCommand = (): Command =>
  withConfig(new Command('capture'))
    .description('write headers and receipts of blocks to files, exactly as an endpoint returned them')
    .requiredOption('--chain <id>', 'the chain', whole)
    .requiredOption('--blocks <range>', 'one block, or first and last: 18000000..18000009', range)
    .requiredOption('--to <folder>', 'the folder for the files; existing files are not overwritten')
    .action(runCapture)

const range = (text: string): Range => {
  const parts = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(text)
  if (parts === null)
    throw new InvalidArgumentError('Expected a block, or two with dots between them: 18000000..18000009.')
  const [from, to] = [Number(parts[1]), Number(parts[2] ?? parts[1])]
  if (to < from) throw new InvalidArgumentError(`It ends before it begins; ${to}..${from} is a range.`)
  if (to - from >= MOST_BLOCKS)
    throw new InvalidArgumentError(`Expected at most ${MOST_BLOCKS} blocks; capture them in parts.`)
  return { from, to }
}

async function runCapture(options: Options): Promise<void> {
  const { captureBlocks } = await import('@assay/server/capture')
  const config = await configOf(options)
  const chain = config.chains.find(({ chainId }) => chainId === options.chain)
  if (chain === undefined) {
    const known = config.chains.map(({ chainId }) => chainId).join(', ')
    throw new Failure(`chain ${options.chain} is not in the configuration; it has ${known}`, EXIT.misused)
  }
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort(new Error('stopped; the files written so far are complete')))
  const bar = new Progress('Capturing')
  const show = (each: CaptureProgress): void => {
    if (options.json !== true) bar.show(shareOf(each), wordsOf(each))
  }
  try {
    const done = await captureBlocks(chain, options.blocks, options.to, stopping.signal, show)
    bar.end()
    print(options, done, () => textOf(done, options.to))
    if (done.differing.length > 0) process.exitCode = EXIT.failed
  } finally {
    bar.end()
  }
}

const shareOf = ({ from_block, to_block, next_block }: CaptureProgress): number =>
  (next_block - from_block) / (to_block - from_block + 1)

const wordsOf = ({ next_block, to_block, written }: CaptureProgress): string =>
  `block ${next_block - 1} of ${to_block}, ${written} files written`

function textOf(
  { chain_id, from_block, to_block, written, same, differing }: CaptureProgress,
  folder: string,
): string {
  const lines = [
    `Blocks ${from_block} to ${to_block} of chain ${chain_id}: ${written} files written, ${same} already existed.`,
    ...differing.map(name => `${name} has different content and was not overwritten; use another folder.`),
    `Run them through the verifier: npm run test:blocks -- ${folder}`,
  ]
  return lines.join('\n')
}
