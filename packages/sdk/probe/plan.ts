/**
 * Encodes the calls of the probe, and decodes its answers.
 *
 * The layout is that of Probe.sol: every argument has a fixed position, so hand-built words are enough. A plan never
 * has more hops than the contract has room for.
 */
import type { Hex } from './hex.ts'
import probe from './Probe.json' with { type: 'json' }

/** How the probe trades with a family's pools. Relatives of v3 differ only in the name of their callback. */
const WAYS = { amm_v2: 1n, amm_v3: 2n, amm_v3_pancake: 2n, amm_algebra_v1: 2n, amm_v4: 3n } as const

export type ProbeFamily = keyof typeof WAYS

/** Null for a family with which the probe cannot trade. */
export const probeFamily = (family: string): ProbeFamily | null =>
  family in WAYS ? (family as ProbeFamily) : null

/** Whether the plan includes the share of the input that trades: a pair leaves that computation to the caller. */
export const needsFee = (family: ProbeFamily): boolean => family === 'amm_v2'

export type ProbeHop = {
  readonly family: ProbeFamily
  /** For v4, the manager. */
  readonly pool: Hex
  readonly tokenIn: Hex
  readonly tokenOut: Hex
  /** For v2, the share of the input that trades. */
  readonly fee: { readonly numerator: bigint; readonly denominator: bigint } | null
  /** For v4, the rest of the pool's key. `native` is the token that wraps its currency 0, if that is the native one. */
  readonly key?: {
    readonly fee: number
    readonly tickSpacing: number
    readonly hooks: Hex
    readonly native: Hex | null
  }
}

/** From wrapped native to the token; the last hop is the probed pool. */
export type ProbePlan = { readonly wrapped: Hex; readonly hops: readonly ProbeHop[] }

/** The amount sent, or reported as sent, and the amount that arrived. */
export type Passage = { readonly sent: bigint; readonly arrived: bigint }

/** One round trip. A passage is null when it did not happen. */
export type Trip = {
  readonly failed: readonly ProbeStep[]
  readonly bought: Passage | null
  readonly moved: Passage | null
  readonly sold: Passage | null
  /** The revert data of the last step that failed; at most 128 bytes. */
  readonly revert: Hex | null
}

/**
 * FUND: the pool's other token could not be obtained. GAS: the trip ran out of gas. Neither says anything about the
 * token.
 */
export type ProbeStep = 'FUND' | 'BUY' | 'MOVE' | 'SELL' | 'GAS'

export const PROBE_CODE = probe.runtimeCode as Hex

export const MOST_HOPS = 4

const STEPS: readonly ProbeStep[] = ['FUND', 'BUY', 'MOVE', 'SELL', 'GAS']
const WORDS = 15
const REASON_AT = 10
const WORD = 64
const NONE: Hex = '0x0'

export const encodeRun = (plan: ProbePlan, second: Hex, [small, large]: readonly [bigint, bigint]): Hex =>
  `${selector('run')}${planWords(plan, second)}${word(small)}${word(large)}`

export const encodeEnter = (plan: ProbePlan, second: Hex): Hex =>
  `${selector('enter')}${planWords(plan, second)}`

export const encodeDepart = (plan: ProbePlan, second: Hex): Hex =>
  `${selector('depart')}${planWords(plan, second)}`

/** `approve(address,uint256)` without a limit, as wallets send it. */
export const encodeApprove = (spender: Hex): Hex => `0x095ea7b3${address(spender)}${'f'.repeat(WORD)}`

/** Null when the bytes do not hold exactly this many trips. */
export function decodeTrips(answer: unknown, trips: number): readonly Trip[] | null {
  if (typeof answer !== 'string' || !/^0x[0-9a-f]*$/i.test(answer)) return null
  if (answer.length !== 2 + trips * WORDS * WORD) return null
  return Array.from({ length: trips }, (_, at) => decodeTrip(answer.slice(2 + at * WORDS * WORD)))
}

function decodeTrip(hex: string): Trip {
  const uint = (at: number): bigint => BigInt(`0x${hex.slice(at * WORD, (at + 1) * WORD)}`)
  const passage = (at: number): Passage | null =>
    uint(at) === 0n ? null : { sent: uint(at), arrived: uint(at + 1) }
  const bits = Number(uint(0))
  const failed = STEPS.filter((_, bit) => (bits & (1 << bit)) !== 0)
  const length = Math.min(Number(uint(REASON_AT - 1)), 4 * (WORD / 2))
  const said = hex.slice(REASON_AT * WORD, REASON_AT * WORD + 2 * length)
  return {
    failed,
    bought: passage(1),
    moved: passage(3),
    sold: passage(5),
    revert: failed.length === 0 ? null : `0x${said.toLowerCase()}`,
  }
}

function planWords({ wrapped, hops }: ProbePlan, second: Hex): string {
  if (hops.length === 0 || hops.length > MOST_HOPS)
    throw new RangeError(`a probe has 1 to ${MOST_HOPS} hops, not ${hops.length}`)
  const places = Array.from({ length: MOST_HOPS }, (_, at) => hopWords(hops[at]))
  return [address(wrapped), address(second), word(BigInt(hops.length)), ...places].join('')
}

function hopWords(hop: ProbeHop | undefined): string {
  if (hop === undefined) return word(0n).repeat(8)
  const { family, pool, tokenIn, tokenOut, fee, key } = hop
  const [a, b] = key === undefined ? [fee?.numerator, fee?.denominator] : [key.fee, key.tickSpacing]
  const [hooks, native] = [key?.hooks ?? NONE, key?.native ?? NONE]
  return [
    word(WAYS[family]),
    ...[pool, tokenIn, tokenOut].map(address),
    ...[a, b].map(each => word(BigInt(each ?? 0n))),
    ...[hooks, native].map(address),
  ].join('')
}

const selector = (name: keyof typeof probe.selectors): Hex => probe.selectors[name] as Hex
const word = (value: bigint): string => value.toString(16).padStart(WORD, '0')
const address = (value: Hex): string => value.slice(2).toLowerCase().padStart(WORD, '0')
