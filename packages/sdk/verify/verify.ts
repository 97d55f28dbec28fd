/**
 * `verify`: recomputes a quote from its own evidence with the engine's rules, so that nobody has to trust our word.
 *
 * Offline it needs the quote and its policy, and reports which number does not follow from the others. With a node of
 * the caller's own it also checks the evidence against the chain.
 */
import { asStored, DEFAULT_POLICY, type Policy, policyVersion } from '@assay/engine/rules'
import type { PolicyRecord } from '../wire/admin.ts'
import type { HistoryPage } from '../wire/history.ts'
import type { EvaluatedQuote, TokenQuote } from '../wire/quote.ts'
import { disputedCaps } from './disputes.ts'
import { checkEvidence } from './evidence.ts'
import { type Difference, Findings } from './findings.ts'
import { checkPresented } from './presented.ts'
import { at, type PricedText, type Reading, readingOf } from './reading.ts'
import { checkRoutes } from './routes.ts'
import { Node, type Transport } from './node.ts'
import { guarded } from './stable.ts'
import { checkLabel, checkVote } from './vote.ts'

export type VerifyOptions = {
  /** As returned by `fetchPolicy(quote.policy_version)`. Omitted: the default policy, if the quote uses it. */
  readonly policy?: PolicyRecord | PolicyRecord['policy']
  /** For a presented quote: the record it overrides, as returned by `fetchHistory` at its `as_of.stream_sequence`. */
  readonly history?: HistoryPage
  /** A node of the caller's own: its URL, or a transport that answers JSON-RPC. */
  readonly rpc?: string | Transport
  readonly signal?: AbortSignal
}

export type Verification = {
  /** Nothing differs, and every check could be made. */
  readonly verified: boolean
  readonly differences: readonly Difference[]
  /** Numbers compared. */
  readonly checks: number
  /** Checks that the node could not answer, for example because it pruned a state: neither confirmed nor refuted. */
  readonly unchecked: readonly string[]
}

export async function verify(quote: TokenQuote, options: VerifyOptions = {}): Promise<Verification> {
  const findings = new Findings()
  const evaluated = recompute(findings, quote, options.policy)
  const { history } = options
  if (history !== undefined && evaluated.state === 'UNPRICED' && evaluated.presented === true)
    checkPresented(findings, evaluated, history)
  const unchecked: string[] = []
  if (options.rpc !== undefined)
    await checkEvidence(findings, evaluated, new Node(options.rpc, options.signal), unchecked)
  return verificationOf(findings, unchecked)
}

/**
 * The checks of `verify` without a node or a history. Synchronous, and a third smaller in a bundle, because no part
 * of it reads a chain.
 */
export function verifyOffline(
  quote: TokenQuote,
  { policy }: Pick<VerifyOptions, 'policy'> = {},
): Verification {
  const findings = new Findings()
  recompute(findings, quote, policy)
  return verificationOf(findings, [])
}

const verificationOf = (findings: Findings, unchecked: readonly string[]): Verification => ({
  verified: findings.differences.length === 0 && unchecked.length === 0,
  differences: findings.differences,
  checks: findings.checks,
  unchecked,
})

function recompute(findings: Findings, quote: TokenQuote, given: VerifyOptions['policy']): EvaluatedQuote {
  if (quote.state === 'PENDING')
    throw new TypeError(
      'a PENDING quote has no price yet: request it again after retry_after_ms, then verify',
    )
  const policy = policyOf(findings, quote, given)
  if (policy !== null) findings.part(() => checkQuote(findings, policy, quote))
  return quote
}

/** The policy named by the quote; null, with a difference reported, when the given policy is another one. */
function policyOf(findings: Findings, quote: EvaluatedQuote, given: VerifyOptions['policy']): Policy | null {
  const policy = given === undefined ? DEFAULT_POLICY : asStored(bare(given))
  const version = policyVersion(policy)
  findings.same('policy_version', quote.policy_version, version, ['policy'])
  return quote.policy_version === version ? policy : null
}

const bare = (given: NonNullable<VerifyOptions['policy']>): object =>
  'policy_version' in given ? (given['policy'] as object) : given

function checkQuote(findings: Findings, policy: Policy, quote: EvaluatedQuote): void {
  if (quote.state === 'PRICED') {
    checkPriced(findings, policy, quote, '')
    return
  }
  findings.same('state', quote.state, 'UNPRICED')
  quote.candidates.forEach((candidate, index) =>
    findings.holds(`candidates[${index}].rule`, candidate.rule, candidate.rule !== '', 'the rule it failed'),
  )
}

/** Routing assets first: the token's own dollars come from them. */
function checkPriced(findings: Findings, policy: Policy, quote: PricedText, path: string): void {
  quote.routing_assets.forEach((asset, index) => {
    const own = at(path, `routing_assets[${index}]`)
    for (const field of ['chain_id', 'evaluated_at_ms', 'policy_version'] as const)
      findings.same(`${own}.${field}`, asset[field], quote[field], [at(path, field)])
    if (asset.state === 'PRICED') findings.part(() => checkPriced(findings, policy, asset, own))
    else findings.differ(`${own}.state`, asset.state, 'PRICED: routes go over it')
  })
  const reading = readingOf(findings, policy, quote, path)
  findings.value(at(path, 'price_usd'), quote.price_usd)
  if (quote.support === null) checkOwnStable(reading)
  else checkVote(reading, checkRoutes(reading))
}

/** A stable's own quote is its guarded answer: no routes. */
function checkOwnStable(reading: Reading): void {
  const { findings, policy, quote, path } = reading
  const { stable, confidence } = quote
  const own = at(path, 'stable')
  findings.same(at(path, 'routes'), quote.routes, [], [at(path, 'support')])
  findings.same(at(path, 'selected'), quote.selected, null)
  findings.same(at(path, 'expires_at_ms'), quote.expires_at_ms, null)
  findings.same(at(path, 'own_past'), quote.own_past ?? null, null)
  findings.same(at(path, 'sellability'), quote.sellability ?? null, null)
  findings.same(`${own}.token_address`, stable.token_address, quote.token, [at(path, 'token')])
  findings.same(at(path, 'price_usd'), quote.price_usd, stable.usd, [`${own}.usd`])
  const source = stable.status === 'NOMINAL' ? 'NOMINAL' : stable.status === 'STALE' ? 'LAST' : 'CHAINLINK'
  const verdict = guarded(findings, `${own}.usd`, stable.usd, source, policy)
  if (verdict === null)
    return findings.unreadable(`${own}.usd`, stable.usd, 'an answer with at most 36 decimals')
  const from = [`${own}.usd`, `${own}.status`]
  findings.exact(`${own}.usd`, stable.usd, verdict.usd, [`${own}.status`])
  findings.same(`${own}.status`, stable.status, verdict.status, [`${own}.usd`])
  const disputes = at(path, 'disputes')
  const disputed = disputedCaps(findings, policy, quote.token, quote.disputes, disputes)
  const score = Math.min(verdict.score, ...disputed.map(({ cap }) => cap))
  const caps = [...verdict.caps, ...disputed]
  findings.same(at(path, 'confidence.caps'), confidence.caps, caps, [...from, disputes])
  const { components } = confidence
  if (!('stable' in components))
    return findings.unreadable(at(path, 'confidence.components'), components, "a stable's own")
  findings.same(at(path, 'confidence.components.stable.score'), components.stable.score, score, [
    ...from,
    disputes,
  ])
  const parts = [components.stable.score, components.feed.score, components.state.score]
  checkLabel(reading, Math.min(...parts, ...confidence.caps.map(each => each.cap)), [
    at(path, 'confidence.components'),
    at(path, 'confidence.caps'),
  ])
}
