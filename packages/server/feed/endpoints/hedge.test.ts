import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import { hedged, type Try } from './hedge.ts'
import { closeAll, endpointsOf, follow, keep } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

const never: Try<string> = signal =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

/** Later than any test lasts: on a busy machine even a sum may take some milliseconds. */
const NEVER_MS = 600_000

/** Tries in their order; one is late after so long. */
function race(tries: readonly Try<string>[], lateMs: number) {
  const left = [...tries]
  const overtaken: Try<string>[] = []
  const failures: unknown[] = []
  const answer = hedged<string>({
    next: () => left.shift() ?? null,
    waitMs: () => lateMs,
    onFailure: error => failures.push(error),
    onOvertaken: attempt => overtaken.push(attempt),
    signal: null,
  })
  return { answer, overtaken, failures, left }
}

describe('a hedged call', () => {
  it('is answered by the first try that succeeds, and the others are aborted', async () => {
    const aborted: boolean[] = []
    const silent = (): Try<string> => signal => {
      signal.addEventListener('abort', () => aborted.push(true))
      return never(signal)
    }
    const [first, second] = [silent(), silent()]
    const { answer, overtaken } = race([first, second, () => Promise.resolve('third')], 5)
    expect(await answer).toEqual({ result: 'third' })
    expect(overtaken).toEqual([first, second])
    expect(aborted).toEqual([true, true])
  })

  it('goes to the next endpoint at once when a try fails, and to none once it is answered', async () => {
    const fail: Try<string> = () => Promise.reject(new Error('no'))
    const { answer, failures, left } = race([fail, () => Promise.resolve('second'), fail], NEVER_MS)
    expect(await answer).toEqual({ result: 'second' })
    expect(failures).toHaveLength(1)
    expect(left).toHaveLength(1)
    expect(await race([fail, fail], NEVER_MS).answer).toBeNull()
  })

  it('ends when its caller aborts', async () => {
    const controller = new AbortController()
    const failures: unknown[] = []
    const answer = hedged<string>({
      next: () => never,
      waitMs: () => null,
      onFailure: error => {
        failures.push(error)
        throw error
      },
      signal: controller.signal,
    })
    controller.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
  })
})

describe('F31: one call in ten that is never answered', () => {
  let chain: LocalChain
  beforeAll(async () => {
    chain = await startLocalChain()
  })
  afterAll(() => chain.close())
  afterEach(closeAll)

  /** What a node is asked; what it pushes is not lost. */
  const ASKED = ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts']
  const losing = async (seed: number): Promise<FaultProxy> => {
    const rule = { method: ASKED, chance: 0.1, fault: { kind: 'hang', after: 'request' } } as const
    return keep(await startFaultProxy({ url: chain.anvil.url, seed, rules: [rule] }))
  }

  it.each([
    ['http', 1],
    ['http', 2],
    ['ws', 1],
  ] as const)('F31: stops nothing, over %s with %i endpoints', async (kind, count) => {
    const proxies = [await losing(3), await losing(4)].slice(0, count)
    const endpoints = endpointsOf(...proxies.map(({ url, wsUrl }) => (kind === 'ws' ? wsUrl : url)))
    const consumer = await follow(chain, { config: { endpoints, blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    for (let blocks = 0; blocks < 25; blocks++) {
      await mineTransactions(chain, EVERY_KIND.slice(0, 1 + (blocks % 3)))
      await consumer.untilTip(await latest(chain))
    }
    expect(new Set(consumer.healths.map(({ status }) => status))).toEqual(new Set(['HEALTHY']))
    expect(consumer.of('reorg')).toEqual([])
    await expectFinalChain(consumer, chain)
  })
})
