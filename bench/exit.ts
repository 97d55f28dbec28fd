/**
 * The proceeds of a sale, and the cost of a false price: answers computed in the chain's own thread, so they must be
 * fast.
 *
 * The exit has 64 routes that share pools: eight of the token into WETH, every second one concentrated with 40 ticks,
 * times eight of WETH. Its p99 covers all answers of a round. The cost to move is for a token with four pools.
 */
import { computeCost } from '../packages/engine/cost/computeCost.ts'
import { computeExit } from '../packages/engine/exit/computeExit.ts'
import { E18, E6, MINUTE, T, USDC, WETH } from '../packages/engine/testing/cast.ts'
import { address } from '../packages/engine/testing/chainSim.ts'
import { type Scenario, scenario } from '../packages/engine/testing/scenario.ts'
import type { Benchmark } from './benchmark.ts'
import { median, quantile } from './harness.ts'
import { duration } from './row.ts'

const ANSWERS = 200
const SIZES = [100n, 1_000n, 10_000n, 1_000_000n].map(usd => usd * E6)

export const benchmarks: readonly Benchmark[] = [exits(), costs()]

function exits(): Benchmark {
  let s: Scenario | null = null
  let p99Ns = 0
  const all: number[] = []
  const answer = () => {
    const { state, nowMs } = s as Scenario
    return computeExit(state, T, nowMs, { in: 'microusd', values: SIZES })
  }
  return {
    name: 'exit: p99 of answers over 64 routes, four sizes, at most 20 ms',
    unit: 'answer',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 50, unit: 'per second' },
    prepare: () => {
      s = manyRoutes()
      for (let n = 0; n < ANSWERS; n++) answer()
    },
    check: () => {
      const routes = (s as Scenario).pricedNow(T).routes.filter(({ exclusion }) => exclusion === null)
      if (routes.length !== 64) throw new Error(`the token has ${routes.length} accepted routes, not 64`)
      const { outcome } = answer()
      if (outcome !== 'exit') throw new Error(`the answer is ${outcome}`)
    },
    ours: {
      name: 'computeExit',
      operations: 1,
      run: () => {
        const times: number[] = []
        for (let n = 0; n < ANSWERS; n++) {
          const start = performance.now()
          answer()
          times.push((performance.now() - start) * 1e6)
        }
        all.push(...times)
        p99Ns = quantile(times, 0.99)
      },
      measuredNs: () => p99Ns,
      calls: 1,
    },
    notes: () => [
      `p50 ${duration(median(all))}, p99 ${duration(quantile(all, 0.99))} of ${all.length} answers`,
    ],
  }
}

function costs(): Benchmark {
  let s: Scenario | null = null
  let moves = 0
  return {
    name: 'cost: an answer for a token of four pools, at most half a second',
    unit: 'answer',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 2, unit: 'per second' },
    prepare: () => {
      s = fourPools()
    },
    check: () => {
      const { state, nowMs } = s as Scenario
      const answer = computeCost(state, T, nowMs)
      if (answer.outcome !== 'cost') throw new Error(`the answer is ${answer.outcome}`)
    },
    ours: {
      name: 'computeCost',
      operations: 1,
      run: () => {
        const { state, nowMs } = s as Scenario
        const answer = computeCost(state, T, nowMs)
        moves = answer.outcome === 'cost' ? [...answer.moves].length : 0
        return moves
      },
    },
    notes: () => [`${moves} moves; the chain's thread does other things between them`],
  }
}

function manyRoutes(): Scenario {
  const s = scenario()
  const price = Math.round(Math.log(1 / 2000) / Math.log(1.0001))
  const tick = T < WETH ? price : -price
  const snap = (at: number): number => Math.floor(at / 60) * 60
  for (let n = 0; n < 8; n++) {
    const deployment = `d${n}`
    const usd = BigInt(n + 8) * 100_000n
    const own = address(0x200 + n)
    if (n % 2 === 0) s.v2(own, [T, usd * E18], [WETH, (usd * E18) / 2000n], { deployment })
    else {
      const positions = Array.from({ length: 20 }, (_, at) => {
        const reach = 600 * (at + 1)
        return [snap(tick - reach), snap(tick + reach), (usd * E18) / 900n] as const
      })
      s.v3(own, T, WETH, { deployment, tick, positions })
    }
    s.v2(address(0x300 + n), [WETH, (usd * E18) / 500n], [USDC, usd * 4n * E6], { deployment })
  }
  s.enrol(T)
  return s
}

function fourPools(): Scenario {
  const s = scenario()
  const depths = [1_000_000n, 600_000n, 300_000n] as const
  for (const [at, usd] of depths.entries())
    s.v2(address(0x200 + at), [T, usd * E18], [USDC, usd * E6], { deployment: `d${at}` })
  s.v2(address(0x210), [T, 200_000n * E18], [WETH, 100n * E18], { deployment: 'd4' })
  for (const at of [0, 1])
    s.v2(address(0x300 + at), [WETH, 5_000n * E18], [USDC, 10_000_000n * E6], { deployment: `d${at}` })
  s.enrol(T)
  s.quiet(40 * MINUTE)
  return s
}
