/**
 * An operator's changes to the policy, checked and laid over the default.
 *
 * Objects merge key by key, a list replaces the whole list. Nothing is corrected and nothing is ignored:
 * either every field is known, whole, in range and in order, or one error names every fault there is.
 */
import { type Count, count, type Ms, ms, type Score, score } from '../units.ts'
import { FORMER_POLICY, isFormer, unusedBy } from './former.ts'
import { type BpsBands, DEFAULT_POLICY, type Policy } from './policy.ts'
import { PolicyError, type PolicyFault } from './policyError.ts'
import { isPlainObject, quote } from './received.ts'

/** `overrides` is any subset of the policy object, over the numbers of its revision; undefined changes nothing. */
export function mergePolicy(overrides: unknown): Policy {
  if (overrides === undefined) return DEFAULT_POLICY
  const faults: PolicyFault[] = []
  const merged = POLICY(overrides, isFormer(overrides) ? FORMER_POLICY : DEFAULT_POLICY, 'policy', faults)
  if (faults.length > 0) throw new PolicyError(faults)
  return merged as Policy
}

/** Reads `value` over `base`. After a reported fault the result is meaningless. */
type Rule<T> = (value: unknown, base: T | undefined, path: string, faults: PolicyFault[]) => T | undefined

/** A check across fields that are each valid: what they must satisfy together, or null if they do. */
type Check<T> = (merged: T) => string | null

/** Longest list an operator may give: bands are read in full for every score. */
const MAX_ENTRIES = 32

function integer<T extends Count | Ms | Score>(min: T, max: T): Rule<T> {
  return (value, _base, path, faults) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
      return value as T
    return refuse(faults, path, value, `an integer from ${min} to ${max}`)
  }
}

function object<T extends object>(
  shape: { readonly [K in keyof T]: Rule<T[K]> },
  check: Check<T> = () => null,
): Rule<T> {
  const keys = Object.keys(shape) as (keyof T & string)[]
  return (value, base, path, faults) => {
    if (!isPlainObject(value)) return refuse(faults, path, value, 'an object')
    const before = count(faults.length)
    const merged: Partial<T> = { ...base }
    for (const key of Object.keys(value))
      if (!Object.hasOwn(shape, key))
        refuse(faults, `${path}.${key}`, value[key], `no such key; there are ${keys.join(', ')}`)
    for (const key of keys)
      if (Object.hasOwn(value, key)) {
        const field = shape[key](value[key], base?.[key], `${path}.${key}`, faults)
        if (field !== undefined) merged[key] = field
      } else if (base === undefined) refuse(faults, `${path}.${key}`, undefined, 'a value')
    return settle(merged as T, before, check, path, faults)
  }
}

/** Any chain id may be a key. */
function byChain<T>(rule: Rule<T>): Rule<Readonly<Record<string, T>>> {
  return (value, base, path, faults) => {
    if (!isPlainObject(value)) return refuse(faults, path, value, 'an object')
    const merged: Record<string, T> = { ...base }
    for (const key of Object.keys(value)) {
      if (!/^[1-9][0-9]{0,15}$/.test(key)) {
        refuse(faults, `${path}.${key}`, value[key], 'a chain id as key')
        continue
      }
      const field = rule(value[key], undefined, `${path}.${key}`, faults)
      if (field !== undefined) merged[key] = field
    }
    return merged
  }
}

function list<T>(rule: Rule<T>, check: Check<readonly T[]>): Rule<readonly T[]> {
  return (value, _base, path, faults) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > MAX_ENTRIES)
      return refuse(faults, path, value, `a list of 1 to ${MAX_ENTRIES} entries`)
    const before = count(faults.length)
    const entries = value.map((entry: unknown, at) => rule(entry, undefined, `${path}[${at}]`, faults))
    return settle(entries as T[], before, check, path, faults)
  }
}

function pair<A, B>(first: Rule<A>, second: Rule<B>): Rule<readonly [A, B]> {
  return (value, _base, path, faults) => {
    if (!Array.isArray(value) || value.length !== 2)
      return refuse(faults, path, value, 'a pair [bound, score]')
    const a = first(value[0], undefined, `${path}[0]`, faults)
    const b = second(value[1], undefined, `${path}[1]`, faults)
    return a === undefined || b === undefined ? undefined : [a, b]
  }
}

/** Fields are checked together only when each of them is valid: one mistake, one fault. */
function settle<T>(
  merged: T,
  before: Count,
  check: Check<T>,
  path: string,
  faults: PolicyFault[],
): T | undefined {
  if (faults.length > before) return undefined
  const expected = check(merged)
  if (expected === null) return merged
  faults.push({ path, received: JSON.stringify(merged), expected })
  return undefined
}

function refuse(faults: PolicyFault[], path: string, value: unknown, expected: string): undefined {
  faults.push({ path, received: quote(value), expected })
}

const DAY = 86_400_000
const anyScore = integer(score(0), score(10))
const shareBps = integer(count(0), count(10_000))
const unitCount = integer(count(1), count(1_000_000_000))
const deviationBps = integer(count(0), count(1_000_000))
const dollars = integer(count(0), count(1_000_000_000))
const durationMs = integer(ms(0), ms(365 * DAY))
/** At least a second: anything shorter expires before a block is processed. */
const ttlMs = integer(ms(1_000), ms(30 * DAY))

type Ordered = readonly (Count | Ms | Score)[]
const isAscending = (values: Ordered): boolean =>
  values.every((value, at) => at === 0 || value > (values[at - 1] ?? 0))
const isFalling = (values: Ordered): boolean =>
  values.every((value, at) => at === 0 || value <= (values[at - 1] ?? 0))
const isRising = (values: Ordered): boolean => isFalling([...values].reverse())

const sourceScores = list(anyScore, scores =>
  isRising(scores) ? null : 'scores that never fall as sources are added',
)

const bpsBands = object<BpsBands>(
  {
    up_to: list(pair(deviationBps, anyScore), bands =>
      isAscending(bands.map(([bound]) => bound)) ? null : 'bands by ascending bound',
    ),
    beyond: anyScore,
  },
  ({ up_to, beyond }) =>
    isFalling([...up_to.map(([, value]) => value), beyond])
      ? null
      : 'scores that never rise with the deviation',
)

/** Consensus keeps at least this share (R-consensus-4), so the lowest band must reach down to it. */
const LEAST_RETAINED_BPS = 6_700

const retainedBands = list(pair(shareBps, anyScore), bands => {
  const bounds = bands.map(([bound]) => bound)
  if (!isAscending([...bounds].reverse())) return 'bands by descending bound'
  if (!isFalling(bands.map(([, value]) => value))) return 'scores that never rise as less is retained'
  return (bounds.at(-1) ?? 0) <= LEAST_RETAINED_BPS
    ? null
    : `a last band that starts at ${LEAST_RETAINED_BPS} or below`
})

const tradeAgeCaps = list(
  object<{ readonly over_ms: Ms; readonly cap: Score }>({ over_ms: durationMs, cap: anyScore }),
  caps => {
    if (!isAscending(caps.map(({ over_ms }) => over_ms))) return 'ages in ascending order'
    return isFalling(caps.map(({ cap }) => cap)) ? null : 'caps that never rise with the age'
  },
)

const POLICY: Rule<Policy> = object<Policy>(
  {
    revision: integer(count(1), count(2)),
    max_hops: integer(count(1), count(8)),
    max_routes: integer(count(1), count(1_024)),
    max_asset_routes: integer(count(1), count(64)),
    observation_share_bps: shareBps,
    observation_floors_bps: list(shareBps, floors =>
      isFalling(floors) ? null : 'floors of the vote, the greatest first',
    ),
    observation_kept_bps: shareBps,
    source_share_bps: shareBps,
    source_within_bps: deviationBps,
    material_share_bps: shareBps,
    dissent: object<Policy['dissent']>({ beyond_bps: deviationBps, cap: anyScore }),
    evidence: object<Policy['evidence']>({
      observed_tolerance_bps: shareBps,
      observed_output_share_bps: shareBps,
      reference_divisor: integer(count(1), count(1_000_000_000)),
      reference_min_units: unitCount,
      reference_min_input: object<Policy['evidence']['reference_min_input']>({
        amm_v2: unitCount,
        amm_v3: unitCount,
      }),
    }),
    ttl_ms: object<Policy['ttl_ms']>({ default: ttlMs, by_chain: byChain(ttlMs) }),
    trade_age_caps: tradeAgeCaps,
    trade: object<Policy['trade']>({ min_usd: integer(count(0), count(1_000_000)), unknown_cap: anyScore }),
    min_depth_usd: dollars,
    fee_ceiling_ppm: integer(count(0), count(1_000_000)),
    imbalance_ratio: integer(count(1), count(1_000_000_000)),
    depth_asymmetry: integer(count(1), count(1_000_000_000)),
    jump: object<Policy['jump']>({
      ratio: integer(count(2), count(1_000_000_000)),
      hold_ms: durationMs,
      cap: anyScore,
    }),
    republish: object<Policy['republish']>({ move_bps: deviationBps, interval_ms: durationMs }),
    agreement: object<Policy['agreement']>({
      edge_sources: sourceScores,
      path_sources: sourceScores,
      single_deployment_cap: anyScore,
      spread: bpsBands,
      retained: retainedBands,
    }),
    stable: object<Policy['stable']>({
      depeg: bpsBands,
      stale_cap: anyScore,
      nominal_cap: anyScore,
      nominal_limit_bps: shareBps,
      sequencer_grace_ms: durationMs,
      dispute: object<Policy['stable']['dispute']>({
        bands: bpsBands,
        thin_cap: anyScore,
        min_average_usd: dollars,
        lone_average_usd: dollars,
      }),
    }),
    anchor_dispute: bpsBands,
    sellability: object<Policy['sellability']>({
      unsellable_cap: anyScore,
      restricted_cap: anyScore,
      unknown_cap: anyScore,
      tax: bpsBands,
    }),
    backing: object<Policy['backing']>({ below_bps: shareBps, above_bps: deviationBps, cap: anyScore }),
    coverage: object<Policy['coverage']>({ unknown_cap: anyScore, max_age_ms: durationMs }),
    max_undo_blocks: integer(count(1), count(1_000_000)),
  },
  unusedBy,
)
