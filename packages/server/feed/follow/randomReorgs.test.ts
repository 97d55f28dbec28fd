/**
 * Random lives of a chain: blocks with and without logs, reorganisations of any depth, shorter branches, returns to a branch
 * that was left, one after the other or while the last is still being fetched. 100 sequences here, 10,000 by
 * `npm run test:reorgs`. After each, what the consumer has is what a fresh index of the chain has (R-fold-5).
 */
import { afterEach, describe, expect, it } from 'vitest'
import { Random } from '../../../world/random.ts'
import { startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import { closeAll, endpointsOf, follow, keep } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  mine,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'
import { Progress } from '../testing/progress.ts'
import { seedOfRun } from '../../../world/seed.ts'

const SEQUENCES = Number(process.env['ASSAY_REORGS'] ?? 100)
const SEED = seedOfRun()
/** Anvil slows with the length of its history. */
const PER_CHAIN = 50
/** Further back than any reorganisation here goes. */
const COMPARED = 48
const DEEPEST = 16
const LANES = 8
/** A guard against a hang: an anvil of one's own may run emulated. */
const LEAST_MS = 900_000
const EACH_MS = process.env['ASSAY_ANVIL'] === undefined ? 400 : 2_000

afterEach(closeAll)

describe('random reorganisations', () => {
  it(`${SEQUENCES} sequences end on the surviving chain`, {
    timeout: LEAST_MS + SEQUENCES * EACH_MS,
  }, async () => {
    const progress = new Progress('random reorganisations', SEQUENCES)
    let done = 0
    // A lane mostly waits for a node; several fill the time.
    const starts = Array.from({ length: Math.ceil(SEQUENCES / PER_CHAIN) }, (_, n) => n * PER_CHAIN)
    const lane = async (): Promise<void> => {
      for (let first = starts.shift(); first !== undefined; first = starts.shift())
        await liveOn(first, Math.min(PER_CHAIN, SEQUENCES - first), () => progress.reached(++done))
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  })
})

async function liveOn(first: number, count: number, onSequence: () => void): Promise<void> {
  const random = new Random(SEED, `chain ${first}`)
  const chain = keep(await startLocalChain())
  const proxy = keep(await startFaultProxy({ url: chain.anvil.url, seed: SEED + first }))
  await mine(chain, DEEPEST + 1)
  const consumer = await follow(chain, { config: { endpoints: endpointsOf(proxy.wsUrl) } })
  await consumer.untilTip(await latest(chain))
  proxy.add({ chance: 0.1, fault: { kind: 'delay', ms: [0, 4] } })
  proxy.add({
    method: ['eth_getBlockReceipts', 'eth_getBlockByHash'],
    chance: 0.01,
    fault: { kind: 'change', change: () => null },
  })
  let height = 0
  for (let n = first; n < first + count; n++) {
    const about = `seed ${SEED}, sequence ${n}`
    const isPatient = random.chance(2, 3)
    for (let step = random.integer(1, 4); step > 0; step--) {
      height = await act(chain, random, height)
      if (isPatient) await settle()
    }
    await settle()
    await expectFinalChain(consumer, chain, { about, blocks: COMPARED })
    onSequence()

    // A head that is below ours, or was ours before, tells nothing: a new block does.
    async function settle(): Promise<void> {
      height = await grow(chain, random, height)
      const { hash } = await latest(chain)
      await consumer.until(`${about}: tip ${hash}`, ({ tip }) => tip?.hash === hash, 60_000)
    }
  }
  await expectFinalChain(consumer, chain, { about: `seed ${SEED}, after ${first + count}` })
  expect(consumer.of('reorg').length).toBeGreaterThan(count / 3)
  await consumer.close()
  await proxy.close()
  await chain.close()
}

/** One thing that happens to the chain; gives how many blocks above the start can be undone. */
async function act(chain: LocalChain, random: Random, height: number): Promise<number> {
  const deepest = Math.min(height, DEEPEST)
  switch (deepest === 0 ? 'grow' : random.pick(['grow', 'reorg', 'reorg', 'shorter', 'return'] as const)) {
    case 'grow':
      return grow(chain, random, height)
    case 'reorg':
      await another(chain, random)
      await chain.rpc('anvil_reorg', random.integer(1, deepest), [])
      return height
    case 'shorter': {
      const depth = random.integer(1, deepest)
      await chain.rpc('anvil_rollback', depth)
      return grow(chain, random, height - depth)
    }
    // There and back: the blocks of the other branch are seen, and then ours again.
    case 'return': {
      const snapshot = await chain.rpc('evm_snapshot')
      await grow(chain, random, height)
      await chain.rpc('evm_revert', snapshot)
      return height
    }
  }
}

async function grow(chain: LocalChain, random: Random, height: number): Promise<number> {
  await another(chain, random)
  if (random.chance(1, 2)) {
    const blocks = random.integer(1, 4)
    await mine(chain, blocks)
    return height + blocks
  }
  await mineTransactions(chain, EVERY_KIND.slice(0, random.integer(1, 3)))
  return height + 1
}

/** By another miner a block is another block, however short the time. */
const another = (chain: LocalChain, random: Random): Promise<unknown> =>
  chain.rpc('anvil_setCoinbase', `0x${random.bigint(1n << 156n, (1n << 160n) - 1n).toString(16)}`)
