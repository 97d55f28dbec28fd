/**
 * What a step says. Pools first, then stables and routing assets in their order, then tokens by address: at
 * most one record each, causes before consequences.
 *
 * The last record of a token *is* its price. It is replaced at once when its own hops change or its score,
 * caps or state do; when only an anchor has moved, not before the move is worth it (R-publish-1, R-publish-6).
 */
import type { Address } from './chain/block.ts'
import { setPublishedPool, setPublishedToken } from './chain/journal.ts'
import * as ratio from './exact/ratio.ts'
import type { Fraction } from './exact/ratio.ts'
import { DEPTH_FROM } from './rules/depthScore.ts'
import { bpsText, compactOf } from './price/publish/compact.ts'
import { DepthWatch, isFiled } from './memory/depthWatch.ts'
import { edgeOf } from './price/hops/edge.ts'
import { evaluate, valueAssets } from './price/evaluate.ts'
import type { Evaluation, Onward, Priced } from './price/evaluation.ts'
import { type Moment, momentOf } from './price/moment.ts'
import { hasMoved, MoveWatch } from './memory/moveWatch.ts'
import { poolStateText } from './price/publish/poolText.ts'
import { stableView } from './price/hops/stableView.ts'
import type { CapText, CompactPriced, EngineRecord, PublishedToken } from './record.ts'
import { RecordWriter } from './recordWriter.ts'
import { roleOf } from './setup.ts'
import type { Pool, State, Token } from './state.ts'
import { type Ms, ms, type Near, soonest } from './units.ts'
import { dependentsOf, type Work } from './work.ts'

/** Publishes what `work` calls for at `atMs`, and whatever has fallen due by then. */
export function publish(state: State, work: Work, atMs: Ms): EngineRecord[] {
  const writer = new RecordWriter(state, work)
  const { tip, health } = state.chain
  if (tip === null) return writer.finish()
  // In a gap blocks are applied and pools shown, but no token is priced on a chain we are behind of.
  const isSilent = health?.status === 'GAP' && !work.everyone
  if (!isSilent) {
    for (const token of state.index.dues.take(atMs)) work.look.add(token)
    if (state.chain.proven.at(-1)?.last === tip.number)
      for (const token of state.index.aged) work.look.add(token)
  }
  const hasTokens = !isSilent && (work.everyone || work.own.size > 0 || work.look.size > 0)
  if (!hasTokens && work.pools.size === 0) return writer.finish()

  const moment = momentOf(state, atMs)
  valueAssets(moment)
  if (hasTurned(moment, work)) for (const pool of incomplete(moment)) work.pools.add(pool)
  for (const pool of work.pools) {
    if (!state.pools.has(pool.address)) continue
    const next = { recordId: writer.nextId(), state: poolStateText(edgeOf(moment, pool)) }
    writer.pool(pool, next)
    setPublishedPool(state, pool, next)
  }
  for (const pool of work.removed.values()) if (!state.pools.has(pool.address)) writer.orphanedPool(pool)
  if (!isSilent) publishTokens(moment, work, writer)
  return writer.finish()
}

/** An anchor has a price that it did not have, or the feed is back: what was shown without them can be completed. */
function hasTurned(moment: Moment, work: Work): boolean {
  // Without a feed nothing turns, and an outage would look through all pools at every block.
  if (moment.feed.score === 0) return false
  const { chain, setup } = moment.state
  const isNew = (anchor: Address) => !isPricedSignature(chain.anchors[anchor] ?? '')
  return (
    work.everyone ||
    setup.stables.some(({ token }) => isNew(token) && stableView(moment, token)?.status !== 'SUSPENDED') ||
    setup.routingAssets.some(
      asset => isNew(asset) && moment.valuations.get(asset)?.evaluation.kind === 'PRICED',
    )
  )
}

/** Pools shown as having no feed, or without the value of their depth, which can be said now. */
function* incomplete(moment: Moment): Generator<Pool> {
  for (const pool of moment.state.pools.values()) {
    if (pool.published === null) continue
    const { depth, reason } = pool.published.state
    const isUnvalued = depth === null && pool.state.depth !== null
    if (reason === 'FEED' || (isUnvalued && edgeOf(moment, pool).capacity !== null)) yield pool
  }
}

function publishTokens(moment: Moment, work: Work, writer: RecordWriter): void {
  const { state } = moment
  const anchors = [...state.setup.stables.map(stable => stable.token), ...state.setup.routingAssets]
  for (const anchor of anchors) {
    const evaluation = moment.valuations.get(anchor)?.evaluation ?? evaluate(moment, anchor)
    consider(moment, work, writer, state.tokens.get(anchor) as Token, evaluation)
    noteAnchor(moment, work, anchor, evaluation)
  }
  const isAnchor = new Set(anchors)
  const asked = work.everyone ? state.tokens.keys() : new Set([...work.own, ...work.look])
  const tokens = [...asked].filter(address => !isAnchor.has(address)).sort()
  for (const address of tokens) {
    const token = state.tokens.get(address)
    if (token === undefined) continue
    if (isActive(token)) consider(moment, work, writer, token, evaluate(moment, address))
    // One that went to sleep was taken from the queue for good: after a restart it must not be in it again.
    else setDue(state, token, null, false)
  }
}

/** Enrolled, or on its way out and not yet told so. */
function isActive(token: Token): boolean {
  if (token.enrolledAtMs !== null) return true
  const compact = token.published?.compact
  return (
    token.dormant !== null &&
    compact !== undefined &&
    !(compact.state === 'UNPRICED' && compact.reason === token.dormant)
  )
}

/** An anchor whose state, score or caps changed concerns all who depend on it; one that moved, those it left behind. */
function noteAnchor(moment: Moment, work: Work, anchor: Address, evaluation: Evaluation): void {
  const { state } = moment
  const main = signatureOf(evaluation)
  const minor = minorOf(moment.valuations.get(anchor)?.onward ?? [])
  const signature = [main, ...minor].join(MINOR)
  const before = state.chain.anchors[anchor]
  if (before !== signature) {
    state.chain = { ...state.chain, anchors: { ...state.chain.anchors, [anchor]: signature } }
    state.index.changed.add('chain')
    const [mainBefore, ...minorBefore] = before?.split(MINOR) ?? []
    // While the anchor keeps a price, who has none for reasons of its own still has none.
    const isStillPriced = before !== undefined && isPricedSignature(before) && isPricedSignature(signature)
    const onMinor = selectedOn([...minor, ...minorBefore].filter(each => !isBoth(each, minor, minorBefore)))
    const isConcerned = (compact: CompactPriced) => mainBefore !== main || onMinor(compact)
    const dependents = isStillPriced ? pricedBy(state, anchor, isConcerned) : dependentsOf(state, anchor)
    for (const dependent of dependents) work.look.add(dependent)
  }
  if (evaluation.kind === 'UNPRICED') return
  notePrice(moment, work, anchor, ratio.near(evaluation.price))
  const bps = BigInt(moment.policy.republish.move_bps)
  for (const token of state.index.watches.get(anchor)?.takeMoved(evaluation.marginalUsd, bps) ?? [])
    work.look.add(token)
}

/** Of those with a hop into `anchor`, the ones with such a price. */
function* pricedBy(
  { index }: State,
  anchor: Address,
  isSuch: (compact: CompactPriced) => boolean,
): Generator<Address> {
  for (const { address, published } of index.priced) {
    const compact = published?.compact
    if (compact?.state !== 'PRICED' || !isSuch(compact)) continue
    if (index.ownPools.get(address)?.anchored.some(({ to }) => to === anchor)) yield address
  }
}

/** Another price of an anchor is another depth of every hop into it: who enters another band is looked at. */
function notePrice({ state, leastMicrousd }: Moment, work: Work, anchor: Address, now: Near): void {
  const before = state.chain.anchorUsd[anchor]
  if (before === now) return
  state.chain = { ...state.chain, anchorUsd: { ...state.chain.anchorUsd, [anchor]: now } }
  state.index.changed.add('chain')
  if (before === undefined) return
  const passed = state.index.depths.get(anchor)?.passed(before, now, [leastMicrousd, ...DEPTH_FROM]) ?? []
  for (const pool of passed) work.look.add(pool.from)
}

/** The signature of a price starts with its score, that of an absence with its reason. */
const isPricedSignature = (signature: string): boolean => /^\d/.test(signature)

function signatureOf(evaluation: Evaluation): string {
  if (evaluation.kind === 'UNPRICED') return evaluation.reason
  const caps = evaluation.caps.map(({ code, cap }) => `${code}:${cap}`).join(',')
  const material = evaluation.routes
    .filter(route => route.material)
    .map(route => `${route.id}:${route.score}`)
  return `${evaluation.score} ${caps} ${material.sort().join(',')}`
}

/** Before each route of an anchor that it hardly rests on itself. */
const MINOR = ' | '

/** What others may go on from although it is not material to the anchor: whoever selects it shows its score and caps. */
const minorOf = (onward: readonly Onward[]): string[] =>
  onward
    .filter(({ route }) => !route.material)
    .map(({ route }) => {
      const caps = route.edges.flatMap(edge => edge.caps.map(({ code, cap }) => `${code}:${cap}`))
      return `${route.id} ${route.score} ${caps.join(',')}`
    })
    .sort()

const isBoth = (text: string, a: readonly string[], b: readonly string[]): boolean =>
  a.includes(text) && b.includes(text)

/** Whether a price stands on one of these routes of an anchor. */
function selectedOn(minor: readonly string[]): (compact: CompactPriced) => boolean {
  const ends = minor.map(text => `-${text.split(' ', 1)[0]}`)
  return ({ selected }) => selected !== null && ends.some(end => selected.route_id.endsWith(end))
}

/** Publishes a token if its evaluation calls for it, and sets when to look again. */
function consider(
  moment: Moment,
  work: Work,
  writer: RecordWriter,
  token: Token,
  evaluation: Evaluation,
): void {
  const { state } = moment
  const before = token.published?.references ?? NO_REFERENCES
  const isOwn = work.everyone || work.own.has(token.address)
  const decision = work.again ? YES : decide(moment, token, evaluation, isOwn, work.orphaned)
  if (decision.publish) {
    const references = referencesOf(moment, evaluation)
    const compact = compactOf(evaluation, state.policyView.version)
    const next: PublishedToken = { recordId: writer.nextId(), compact, references }
    writer.token(token, next, evaluation)
    setPublishedToken(state, token, next, evaluation)
  }
  setDue(state, token, soonest(evaluation.dueMs, decision.againMs), decision.againMs !== null)
  setAged(state, token, evaluation.own.isAged)
  refile(state, token, before)
  // Whatever changes the depth of a hop, or its decimals, has its token looked at as its own.
  if (isOwn) fileDepths(state, token)
}

/** Remembers tokens that a proven block would do good. */
function setAged({ index }: State, token: Token, isAged: boolean): void {
  if (isAged) index.aged.add(token.address)
  else index.aged.delete(token.address)
  if (token.isAged === isAged) return
  token.isAged = isAged
  index.changed.add(`token/${token.address}`)
}

function setDue(state: State, token: Token, soonMs: Ms | null, isDeferred: boolean): void {
  const isWatched = token.enrolledAtMs !== null || roleOf(state.setup, token.address) !== 'TOKEN'
  const dueMs = isWatched ? soonMs : null
  if (token.dueMs !== dueMs || token.isDeferred !== isDeferred) {
    token.dueMs = dueMs
    token.isDeferred = isDeferred
    state.index.changed.add(`token/${token.address}`)
  }
  state.index.dues.set(token.address, dueMs)
}

type Decision = { readonly publish: boolean; readonly againMs: Ms | null }

const NO: Decision = { publish: false, againMs: null }
const YES: Decision = { publish: true, againMs: null }

function decide(
  moment: Moment,
  token: Token,
  next: Evaluation,
  isOwn: boolean,
  orphaned: ReadonlySet<string>,
): Decision {
  const { published } = token
  if (published === null || wasRevoked(published, next, orphaned)) return YES
  const last = published.compact
  if (last.state === 'UNPRICED' || next.kind === 'UNPRICED')
    return last.state === 'UNPRICED' && next.kind === 'UNPRICED' && last.reason === next.reason ? NO : YES
  if (last.confidence.score !== next.score || !sameCaps(last.confidence.caps, next.caps)) return YES
  if (last.policy_version !== moment.state.policyView.version) return YES
  if (isOwn && !(isSamePrice(last, next) && isSameShown(moment, last, next))) return YES
  if (isRenewal(moment, last, next)) return YES
  if (!anchorMoved(moment, published) || isSamePrice(last, next)) return NO
  const readyMs = ms(last.evaluated_at_ms + moment.policy.republish.interval_ms)
  return moment.atMs >= readyMs ? YES : { publish: false, againMs: readyMs }
}

/** The last record stood on a block that is no longer ours, and said more than the absence we still find. */
function wasRevoked({ compact }: PublishedToken, next: Evaluation, orphaned: ReadonlySet<string>): boolean {
  if (orphaned.size === 0 || !orphaned.has(compact.as_of.block_hash)) return false
  return compact.state === 'PRICED' || next.kind === 'PRICED' || compact.reason !== next.reason
}

/** Whether a reader would see the same, but for when it was looked at. */
function isSameShown(moment: Moment, last: CompactPriced, next: Priced): boolean {
  const { selected, support } = next
  // What is not the same mostly shows in one of these, and the rest need not be written.
  if (selected !== null && selected.weight.toString() !== last.selected?.weight_microusd) return false
  if (support !== null && bpsText(support.madBps) !== last.support?.mad_bps) return false
  const shown = compactOf(next, moment.state.policyView.version) as CompactPriced
  const { evaluated_at_ms, as_of, expires_at_ms } = last
  return JSON.stringify({ ...shown, evaluated_at_ms, as_of, expires_at_ms }) === JSON.stringify(last)
}

const sameCaps = (a: readonly CapText[], b: readonly CapText[]): boolean =>
  a.length === b.length && a.every((cap, at) => cap.code === b[at]?.code && cap.cap === b[at]?.cap)

/** Without working out the price: two that are equal are as near as 18 digits and a double tell. */
function isNearPrice(last: CompactPriced, { selected }: Priced): boolean {
  if (selected === null) return true
  const shown = Number(last.price_usd.display)
  return !(Math.abs(shown - selected.near) > shown * 2 ** -40)
}

const isSamePrice = (last: CompactPriced, next: Priced): boolean =>
  isNearPrice(last, next) &&
  (last.selected?.route_id ?? null) === (next.selected?.id ?? null) &&
  last.price_usd.numerator === next.price.num.toString() &&
  last.price_usd.denominator === next.price.den.toString()

/** Quiet re-verification moves the expiry; say so before readers count the old one as past. */
function isRenewal(moment: Moment, last: CompactPriced, next: Priced): boolean {
  if (last.expires_at_ms === null || next.expiresAtMs === null) return false
  return next.expiresAtMs > last.expires_at_ms && last.expires_at_ms - moment.atMs < moment.ttlMs / 2
}

function anchorMoved(moment: Moment, published: PublishedToken): boolean {
  const bps = BigInt(moment.policy.republish.move_bps)
  return published.references.some(({ anchor, marginalUsd }) => {
    const now = marginalOf(moment, anchor)
    return now !== null && hasMoved(marginalUsd, now, bps)
  })
}

/** The fee-free price of a stable or routing asset at this moment. */
function marginalOf(moment: Moment, anchor: Address): Fraction | null {
  const evaluation = moment.valuations.get(anchor)?.evaluation
  if (evaluation !== undefined) return evaluation.kind === 'PRICED' ? evaluation.marginalUsd : null
  const stable = moment.stables.get(anchor)
  return stable === undefined || stable.status === 'SUSPENDED' ? null : stable.usd
}

function referencesOf(moment: Moment, evaluation: Evaluation): References {
  if (evaluation.kind === 'UNPRICED') return []
  const anchors = new Set<Address>()
  for (const route of evaluation.routes) anchors.add(route.first.pool.to)
  const references: { anchor: Address; marginalUsd: Fraction }[] = []
  for (const anchor of anchors) {
    const marginalUsd = marginalOf(moment, anchor)
    if (marginalUsd !== null) references.push({ anchor, marginalUsd })
  }
  return references
}

/** Files the own hops of a token that is followed under their depth; also how that is rebuilt. */
export function fileDepths(state: State, token: Token): void {
  if (!isActive(token)) return
  for (const pool of state.index.ownPools.get(token.address)?.anchored ?? []) {
    if (isFiled(pool)) continue
    let watch = state.index.depths.get(pool.to)
    if (watch === undefined) {
      watch = new DepthWatch()
      state.index.depths.set(pool.to, watch)
    }
    watch.file(pool)
  }
}

/**
 * Files a token under the anchor prices it was last published at; also how the watches are rebuilt. One that
 * waits for its turn is in the queue of dues instead.
 */
export function fileReferences(state: State, token: Token): void {
  for (const watch of state.index.watches.values()) watch.file(token.address, null)
  refile(state, token, NO_REFERENCES)
}

type References = PublishedToken['references']

const NO_REFERENCES: References = []

/** The same for a token that is filed under `before` at most. */
function refile({ index: { watches } }: State, token: Token, before: References): void {
  const now = token.isDeferred ? NO_REFERENCES : (token.published?.references ?? NO_REFERENCES)
  for (const { anchor } of before)
    if (!now.some(each => each.anchor === anchor)) watches.get(anchor)?.file(token.address, null)
  for (const { anchor, marginalUsd } of now) {
    let watch = watches.get(anchor)
    if (watch === undefined) {
      watch = new MoveWatch()
      watches.set(anchor, watch)
    }
    watch.file(token.address, marginalUsd)
  }
}
