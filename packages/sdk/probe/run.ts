/**
 * Runs the probe on a node. Nothing is sent, and everything the token can observe is chosen to look like an ordinary
 * trade. Addresses are drawn at random each time, so a list of them is useless.
 */
import type { Hex } from './hex.ts'
import { type Judgement, judge } from './judge.ts'
import {
  decodeTrips,
  encodeApprove,
  encodeDepart,
  encodeEnter,
  encodeRun,
  PROBE_CODE,
  type ProbePlan,
  type Trip,
} from './plan.ts'

/** Answers with the `result`. Throws on an error, including a refusal of overrides or of the method. */
export type Ask = (method: 'eth_call' | 'eth_simulateV1', params: readonly unknown[]) => Promise<unknown>

export type ProbeRequest = {
  readonly plan: ProbePlan
  /** In wei of native currency, the smaller size first. */
  readonly sizes: readonly [bigint, bigint]
  readonly block: { readonly number: number; readonly hash: Hex; readonly timeMs: number }
  readonly blockTimeMs: number
  /** The gas price that the chain requires; omitted, the node requires none. */
  readonly gasPriceWei?: bigint
}

/** Enough for both attempts of Probe.sol, and below the transaction limit of EIP-7825. */
const RUN_GAS = 14_000_000n
const STEP_GAS = 7_000_000n
/** An approval by a wallet takes less than a twentieth of it. */
const APPROVE_GAS = 1_000_000n
/**
 * The later look: cool-downs of honest tokens are seconds to minutes. Nodes limit how many blocks may be simulated in
 * between.
 */
const LATER_MS = 600_000
const LATER_BLOCKS = 20
/** Additional balance that the account appears to have. */
const POCKET_WEI = 2_713_004_519_220_771_344n

/** A look that was refused is null; the caller reports why. */
export async function probe(
  request: ProbeRequest,
  ask: Ask,
  isRefusal: (error: unknown) => boolean,
): Promise<Judgement> {
  const orNull = async (look: Promise<readonly Trip[] | null>) => {
    try {
      return await look
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
  const [now, later] = await Promise.all([orNull(lookNow(request, ask)), orNull(lookLater(request, ask))])
  return judge({ now, later })
}

/** The whole trip in one block, with the probe as the holder. */
export async function lookNow(request: ProbeRequest, ask: Ask): Promise<readonly Trip[] | null> {
  const { plan, sizes, block } = request
  const [origin, probeAt, second] = [fresh(), fresh(), fresh()]
  const value = sizes[0] + sizes[1]
  const call = {
    ...transaction(request, origin, probeAt, encodeRun(plan, second, sizes), RUN_GAS),
    value: hex(value),
  }
  const overrides = { [probeAt]: { code: PROBE_CODE }, [origin]: { balance: balanceFor(request, value) } }
  return decodeTrips(await ask('eth_call', [call, { blockHash: block.hash }, overrides]), 2)
}

/**
 * A purchase in the next block and a sale some blocks later. The holder is an account without code, and a router
 * sells for it.
 */
export async function lookLater(request: ProbeRequest, ask: Ask): Promise<readonly Trip[] | null> {
  const { plan, sizes, block, blockTimeMs } = request
  const sides = sizes.map(size => ({ size, origin: fresh(), probeAt: fresh(), second: fresh() }))
  const token = plan.hops.at(-1)?.tokenOut ?? '0x'
  const overrides = sides.flatMap(({ size, origin, probeAt }) => [
    [probeAt, { code: PROBE_CODE }],
    [origin, { balance: balanceFor(request, size) }],
  ])
  const buys = sides.map(({ size, origin, probeAt, second }) => ({
    ...transaction(request, origin, probeAt, encodeEnter(plan, second), STEP_GAS),
    value: hex(size),
  }))
  const sales = sides.flatMap(({ origin, probeAt, second }) => [
    transaction(request, origin, token, encodeApprove(probeAt), APPROVE_GAS),
    transaction(request, origin, probeAt, encodeDepart(plan, second), STEP_GAS),
  ])
  const firstS = Math.floor(block.timeMs / 1000) + Math.max(1, Math.floor(blockTimeMs / 1000))
  const laterS = firstS + Math.ceil(Math.max(LATER_MS, LATER_BLOCKS * blockTimeMs) / 1000)
  const blocks = [
    {
      blockOverrides: { number: hex(BigInt(block.number + 1)), time: hex(BigInt(firstS)) },
      stateOverrides: Object.fromEntries(overrides),
      calls: buys,
    },
    {
      blockOverrides: { number: hex(BigInt(block.number + 1 + LATER_BLOCKS)), time: hex(BigInt(laterS)) },
      calls: sales,
    },
  ]
  const answer = await ask('eth_simulateV1', [
    { blockStateCalls: blocks, validation: false, traceTransfers: false },
    { blockHash: block.hash },
  ])
  const entered = callsOf(answer, 0).map(tripOf)
  const departed = callsOf(answer, -1).map(tripOf)
  const trips = sides.map((_, at) => joined(entered[at] ?? null, departed[2 * at + 1] ?? null))
  return trips.every(trip => trip !== null) ? trips : null
}

/** A call that failed as a whole ran out of gas, because the probe catches everything else. */
const OUT_OF_GAS: Trip = { failed: ['GAS'], bought: null, moved: null, sold: null, revert: '0x' }

function joined(entered: Trip | null, departed: Trip | null): Trip | null {
  if (entered === null || entered.failed.length > 0 || departed === null) return entered
  return { ...departed, bought: entered.bought }
}

function tripOf(call: unknown): Trip | null {
  const { status, returnData } = (call ?? {}) as { status?: unknown; returnData?: unknown }
  if (status !== '0x1') return OUT_OF_GAS
  return decodeTrips(returnData, 1)?.[0] ?? null
}

/** Calls of the first or the last block; nodes may list those between. */
function callsOf(answer: unknown, at: number): readonly unknown[] {
  const block: unknown = Array.isArray(answer) ? answer.at(at) : null
  const { calls } = (block ?? {}) as { calls?: unknown }
  return Array.isArray(calls) ? calls : []
}

const transaction = ({ gasPriceWei }: ProbeRequest, from: Hex, to: Hex, data: Hex, gas: bigint) => ({
  from,
  to,
  data,
  gas: hex(gas),
  ...(gasPriceWei === undefined ? {} : { gasPrice: hex(gasPriceWei) }),
})

const balanceFor = ({ gasPriceWei = 0n }: ProbeRequest, value: bigint): Hex =>
  hex(value + POCKET_WEI + 4n * RUN_GAS * gasPriceWei)

function fresh(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return `0x${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
}

const hex = (value: bigint): Hex => `0x${value.toString(16)}`
