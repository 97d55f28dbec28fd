/**
 * The USD value of one stable token, and how far it may be trusted (R-stable-1, R-stable-7).
 *
 * A value is a feed's own answer or the nominal 1, never a mixture. A value that is not the feed's current answer is
 * marked: source LAST always carries STABLE_STALE, source NOMINAL always STABLE_NOMINAL.
 */
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import { bpsScore, isAtMost } from './bpsBands.ts'
import { type Answer, type FeedTerms, isGood, type Round } from './feedAnswer.ts'
import type { Policy } from '../policy/policy.ts'
import type { Cap } from './reasons.ts'
import { FOREVER, type Timed } from './timed.ts'

export type StableReading = {
  /** The feed's answer at this block; `complete` is false for an unfinished round. Null: not read. */
  readonly answer: Round | null
  /** The last answer that was positive and complete. */
  readonly last: Answer | null
  readonly feed: FeedTerms | null
  /** Only on a chain that has a sequencer uptime feed. */
  readonly sequencer: { readonly up: boolean; readonly sinceMs: Ms } | null
}

export type StableVerdict = {
  readonly usd: Fraction
  readonly score: Score
  readonly status: 'OK' | 'DEPEG' | 'STALE' | 'NOMINAL' | 'SUSPENDED'
  readonly source: 'CHAINLINK' | 'LAST' | 'NOMINAL'
  readonly caps: readonly Cap[]
  /** |U − 1| in basis points; `num` may be 0. */
  readonly deviationBps: Fraction
  /** Time of the value used; null for the nominal 1. */
  readonly updatedAtMs: Ms | null
}

const ONE: Fraction = { num: 1n, den: 1n }
const NO_DEVIATION: Fraction = { num: 0n, den: 1n }

export function guardStable(reading: StableReading, policy: Policy, atMs: Ms): Timed<StableVerdict> {
  const value = judge(reading, policy, atMs)
  return { value, untilMs: nextChange(value, reading, policy, atMs) }
}

function judge(reading: StableReading, policy: Policy, atMs: Ms): StableVerdict {
  const value = isGood(reading.answer) ? reading.answer : reading.last
  if (value === null) return nominal(policy)

  const usd = { num: value.value, den: 10n ** BigInt(value.decimals) }
  const deviationBps = deviationFromOne(usd)
  const { feed } = reading
  // Negative for an answer ahead of our clock; such an answer is not old.
  const ageMs = ms(atMs - value.updatedAtMs)
  const isForgotten = feed === null || ageMs > 2 * feed.heartbeatMs + feed.graceMs
  // A stable last seen off its peg does not return to the peg merely because news is missing.
  if (isForgotten && isAtMost(deviationBps, BigInt(policy.stable.nominal_limit_bps))) return nominal(policy)

  const isStale =
    isForgotten ||
    value !== reading.answer ||
    ageMs > feed.heartbeatMs + feed.graceMs ||
    isUnsettled(reading.sequencer, policy, atMs)
  const byPeg = isForgotten ? score(0) : bpsScore(policy.stable.depeg, deviationBps)

  const caps: Cap[] = []
  if (isStale) caps.push({ code: 'STABLE_STALE', cap: policy.stable.stale_cap })
  if (byPeg === 0) caps.push({ code: 'STABLE_SUSPENDED', cap: byPeg })
  else if (byPeg < 10) caps.push({ code: 'STABLE_DEPEG', cap: byPeg })
  return {
    usd,
    score: isStale && policy.stable.stale_cap < byPeg ? policy.stable.stale_cap : byPeg,
    status: byPeg === 0 ? 'SUSPENDED' : isStale ? 'STALE' : byPeg < 10 ? 'DEPEG' : 'OK',
    source: isStale ? 'LAST' : 'CHAINLINK',
    caps,
    deviationBps,
    updatedAtMs: value.updatedAtMs,
  }
}

function nominal(policy: Policy): StableVerdict {
  const cap = policy.stable.nominal_cap
  return {
    usd: ONE,
    score: cap,
    status: 'NOMINAL',
    source: 'NOMINAL',
    caps: [{ code: 'STABLE_NOMINAL', cap }],
    deviationBps: NO_DEVIATION,
    updatedAtMs: null,
  }
}

/**
 * Tries the few times at which a rule starts or stops to apply, earliest first, and returns the first that changes
 * the verdict.
 */
function nextChange(now: StableVerdict, reading: StableReading, policy: Policy, atMs: Ms): Ms {
  const { feed, sequencer } = reading
  const value = isGood(reading.answer) ? reading.answer : reading.last
  const times: Ms[] = []
  // "Older than" and "within" both include their limit, so the change comes one millisecond past it.
  if (feed !== null && value !== null) {
    const staleMs = value.updatedAtMs + feed.heartbeatMs + feed.graceMs + 1
    times.push(ms(staleMs), ms(staleMs + feed.heartbeatMs))
  }
  if (sequencer?.up === true) times.push(ms(sequencer.sinceMs + policy.stable.sequencer_grace_ms + 1))
  times.sort((a, b) => a - b)
  for (const time of times) if (time > atMs && isChanged(now, judge(reading, policy, time))) return time
  return FOREVER
}

/** For one reading, status and source determine the value, the score and the caps. */
function isChanged(now: StableVerdict, then: StableVerdict): boolean {
  return now.status !== then.status || now.source !== then.source
}

/**
 * The sequencer is down, or has been up for no longer than the grace: prices made while it was down are still
 * arriving.
 */
function isUnsettled(sequencer: StableReading['sequencer'], policy: Policy, atMs: Ms): boolean {
  if (sequencer === null) return false
  return !sequencer.up || atMs - sequencer.sinceMs <= policy.stable.sequencer_grace_ms
}

function deviationFromOne({ num, den }: Fraction): Fraction {
  return { num: 10_000n * (num > den ? num - den : den - num), den }
}
