/** A test chain whose node takes 150 ms for every call, with more tokens than anybody has asked for yet. */
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultProxy, startFaultProxy } from '@assay/world'
import { putMulticall3 } from '../../market/testing/multicall3.ts'
import { planWith, token } from './plan.ts'
import { startTestChain, type TestChain } from './testChain.ts'

const CALL_MS = 150
/** Look-ups, and nothing a block needs. */
const READS = ['eth_call', 'eth_getCode']
const MANY = 100
/** Of the many; all of them are looked up. */
export const WITH_MARKET = 12
const LISTED = 20

/** Nobody has asked for them. */
export const many = Array.from({ length: MANY }, (_, at) => token(0x1000 + at, `ASKED${at}`, 1 + at / 10))
/** For the configuration. */
export const listed = Array.from({ length: LISTED }, (_, at) => token(0x2000 + at, `LISTED${at}`, 2 + at))

const pairOf = (symbol: string) =>
  ({ deployment: 'uniswap-v2', pair: ['USDC', symbol], usd: 300_000 }) as const
const poolOf = (symbol: string) =>
  ({ deployment: 'uniswap-v3', pair: ['WETH', symbol], usd: 300_000, feePpm: 3000 }) as const

export type SlowNode = {
  readonly chain: TestChain
  readonly proxy: FaultProxy
  readonly rounds: Rounds
  /** Holds back every look-up until what it returns is called. */
  readonly closeGate: () => () => void
  readonly close: () => Promise<void>
}

export async function startSlowNode(): Promise<SlowNode> {
  const chain = await startTestChain(
    planWith({
      tokens: [...many, ...listed],
      pools: [
        ...many.slice(0, WITH_MARKET).map(({ symbol }) => pairOf(symbol)),
        ...listed.map(({ symbol }, at) => (at % 2 === 0 ? pairOf(symbol) : poolOf(symbol))),
      ],
    }),
  )
  await putMulticall3((method, ...params) => chain.rpc(method, ...params))
  const rounds = new Rounds()
  const proxy = await startFaultProxy({
    url: chain.world.url,
    rules: [
      {
        fault: {
          kind: 'handle',
          handle: ({ method }, fetchAnswer) =>
            READS.includes(method) ? rounds.count(() => slowly(fetchAnswer)) : slowly(fetchAnswer),
        },
      },
    ],
  })
  const closeGate = () => {
    let open!: () => void
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const rule = proxy.add({ method: READS, fault: { kind: 'wait', until: () => opened } })
    return () => {
      rule.remove()
      open()
    }
  }
  const close = async () => {
    await proxy.close()
    await chain.close()
  }
  return { chain, proxy, rounds, closeGate, close }
}

async function slowly<Answer>(fetchAnswer: () => Promise<Answer>): Promise<Answer> {
  await pause(CALL_MS)
  return fetchAnswer()
}

/** How many look-ups stand one after another: each began after one that had ended. */
class Rounds {
  made = 0
  /** When the first began. */
  startedMs: number | null = null

  async count<Answer>(fetchAnswer: () => Promise<Answer>): Promise<Answer> {
    this.startedMs ??= performance.now()
    const round = this.made + 1
    const answer = await fetchAnswer()
    this.made = Math.max(this.made, round)
    return answer
  }
}
