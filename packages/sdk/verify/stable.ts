/** A stable's answer: its value and source determine everything else the guard states. */
import { count, guardStable, ms, type Policy } from '@assay/engine/rules'
import { disputedCaps } from './disputes.ts'
import type { Findings } from './findings.ts'
import type { StableText } from './reading.ts'

/** More than the decimals of any feed. */
const MOST_DECIMALS = 36
/** A heartbeat so long that the age of the answer, which the source already reflects, does not count again. */
const AGELESS_MS = ms(Number.MAX_SAFE_INTEGER / 4)

type Verdict = ReturnType<typeof guardStable>['value']

/** The guard's verdict on this value from this source; null when no feed can have given it. */
export function guarded(
  findings: Findings,
  path: string,
  usd: StableText['usd'],
  source: string,
  policy: Policy,
): Verdict | null {
  const { num, den } = findings.value(path, usd)
  const none = { answer: null, last: null, feed: null, sequencer: null }
  if (source === 'NOMINAL') return guardStable(none, policy, ms(0)).value
  let decimals = 0
  while (decimals <= MOST_DECIMALS && 10n ** BigInt(decimals) % den !== 0n) decimals++
  if (decimals > MOST_DECIMALS) return null
  const answer = {
    value: (num * 10n ** BigInt(decimals)) / den,
    decimals: count(decimals),
    updatedAtMs: ms(0),
  }
  const feed = { heartbeatMs: AGELESS_MS, graceMs: ms(0) }
  return source === 'LAST'
    ? guardStable({ ...none, last: answer, feed }, policy, ms(0)).value
    : guardStable({ ...none, answer: { ...answer, complete: true }, feed }, policy, ms(0)).value
}

export function checkStable(findings: Findings, policy: Policy, stable: StableText, path: string): void {
  const verdict = guarded(findings, `${path}.usd`, stable.usd, stable.source, policy)
  if (verdict === null) {
    findings.differ(`${path}.usd`, stable.usd, 'an answer with at most 36 decimals')
    return
  }
  const from = [`${path}.usd`, `${path}.source`]
  findings.exact(`${path}.usd`, stable.usd, verdict.usd, [`${path}.source`])
  findings.same(`${path}.source`, stable.source, verdict.source, from)
  findings.same(`${path}.status`, stable.status, verdict.status, from)
  const own = `${path}.disputes`
  const disputed = disputedCaps(findings, policy, stable.token_address, stable.disputes, own)
  const score = Math.min(verdict.score, ...disputed.map(({ cap }) => cap))
  findings.same(`${path}.score`, stable.score, score, [...from, own])
  findings.same(`${path}.caps`, stable.caps, [...verdict.caps, ...disputed], [...from, own])
  findings.holds(
    `${path}.updated_at_ms`,
    stable.updated_at_ms,
    (stable.updated_at_ms === null) === (stable.source === 'NOMINAL'),
    'null for the nominal 1, else the time of the answer',
    [`${path}.source`],
  )
}
