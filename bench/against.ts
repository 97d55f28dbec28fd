/**
 * `npm run bench:against -- REF`: the engine of this folder against the engine of a commit, or of another folder.
 *
 * Each side runs in a separate process and they take turns of a few blocks, so other load on the machine affects both
 * alike. The output is the median, over all pairs of turns, of the ratio of their processor times: above 1 this
 * folder is faster.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { answer, HERE, otherTree } from './otherTree.ts'

const MARKET = { pools: 6_000, tokens: 3_000 }
const SWAPS_PER_BLOCK = 60
const WARM_BLOCKS = 700
const TURNS = 200
const BLOCKS_A_TURN = 4

if (process.send === undefined) await compare(process.argv[2])
else await takeTurns(process.argv[2] as string)

/** The child: an engine of `root`, brought up and warm, that runs a turn on request. */
async function takeTurns(root: string): Promise<void> {
  const engine: typeof import('./engineLoad.ts') = await import(join(root, 'bench/engineLoad.ts'))
  const market = engine.newMarket(MARKET)
  const state = engine.engineFor(market)
  const load = new engine.Load(market, { swapsPerBlock: SWAPS_PER_BLOCK })
  for (let done = 0; done < WARM_BLOCKS; done += 50) engine.runSteps(state, load.next(50), engine.noSteps())
  process.on('message', () => {
    const inputs = load.next(BLOCKS_A_TURN)
    const steps = engine.noSteps()
    engine.runSteps(state, inputs, steps)
    process.send?.(steps.cpuNs)
  })
  process.send?.('ready')
}

async function compare(ref: string | undefined): Promise<void> {
  if (ref === undefined) {
    console.error('Which commit or folder? For example: npm run bench:against -- HEAD~1')
    process.exit(2)
  }
  const other = otherTree(ref)
  const children: ChildProcess[] = []
  try {
    console.log(`warming up: ${WARM_BLOCKS} blocks of ${SWAPS_PER_BLOCK} swaps on each side`)
    for (const root of [HERE, other.root])
      children.push(fork(import.meta.filename, [root], { execArgv: ['--expose-gc'] }))
    const [ours, theirs] = children as [ChildProcess, ChildProcess]
    await Promise.all(children.map(child => answer(child)))
    const ratios: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      // Alternate the order, so that neither side always inherits the other's caches.
      const order = turn % 2 === 0 ? [ours, theirs] : [theirs, ours]
      const took = new Map<ChildProcess, number>()
      for (const child of order) {
        child.send('go')
        took.set(child, await answer<number>(child))
      }
      ratios.push((took.get(theirs) as number) / (took.get(ours) as number))
    }
    ratios.sort((a, b) => a - b)
    const at = (share: number) => (ratios[Math.floor(share * (TURNS - 1))] as number).toFixed(3)
    console.log(
      `swaps re-priced, this folder over ${ref}: ${at(0.5)} (middle half ${at(0.25)} to ${at(0.75)})`,
    )
  } finally {
    for (const child of children) child.kill()
    other.remove()
  }
}
