/**
 * The records of a step. Pools first, then stables and routing assets in their order, then tokens by address: at most
 * one record each, causes before consequences.
 */
import type { Pool, Token } from './entities.ts'
import type { Address } from './chain/block.ts'
import { setPublishedPool, setPublishedToken } from './chain/changes.ts'
import type { Fraction } from './exact/fraction.ts'
import { fileDepths, isActive, NO_REFERENCES, refile, type References } from './memory/filing.ts'
import { hasMoved } from './memory/moveWatch.ts'
import { evaluate, valueAssets } from './price/evaluate.ts'
import type { Evaluation, Priced } from './price/evaluation.ts'
import type { Moment } from './price/moment.ts'
import { momentOf } from './price/momentOf.ts'
import { bpsText, compactOf } from './price/publish/compact.ts'
import { poolStateText } from './price/publish/poolText.ts'
import type { CompactPriced, EngineRecord, PublishedToken } from './record.ts'
import { RecordWriter } from './price/publish/recordWriter.ts'
import { isPricedView } from './rules/anchorView.ts'
import { isPublished, type Looked } from './rules/republish.ts'
import { FOREVER } from './rules/timed.ts'
import { anchorsOf, roleOf } from './setup.ts'
import type { State } from './state.ts'
import { triggers } from './triggers.ts'
import { type Ms, soonest } from './units.ts'
import type { Work } from './work.ts'

/** Publishes what `work` requires at `atMs`, and everything that has fallen due by then. */
export function publish(state: State, work: Work, atMs: Ms): EngineRecord[] {
  const writer = new RecordWriter(state, work)
  const { tip, health } = state.chain
  if (tip === null) return writer.finish()
  // In a gap, blocks are applied and pools shown, but no token is priced while we are behind the chain.
  const isSilent = health?.status === 'GAP' && !work.everyone
  if (!isSilent) triggers.timer(state, work, atMs)
  const hasTokens = !isSilent && (work.everyone || work.own.size > 0 || work.look.size > 0)
  if (!hasTokens && work.pools.size === 0) return writer.finish()

  const moment = momentOf(state, atMs)
  valueAssets(moment)
  if (hasTurned(moment, work)) for (const pool of incomplete(moment)) work.pools.add(pool)
  for (const pool of work.pools) {
    if (!state.pools.has(pool.address)) continue
    const next = { recordId: writer.nextId(), state: poolStateText(moment.edge(pool)) }
    writer.pool(pool, next)
    setPublishedPool(state, pool, next)
  }
  for (const pool of work.removed.values()) if (!state.pools.has(pool.address)) writer.orphanedPool(pool)
  if (!isSilent) publishTokens(moment, work, writer)
  return writer.finish()
}

/** An anchor has gained a price, or the feed has returned: records published without them can be completed. */
function hasTurned(moment: Moment, work: Work): boolean {
  // Without a feed no record can be completed, and an outage would scan all pools at every block.
  if (moment.feed.score === 0) return false
  const { chain, setup } = moment.state
  const isNew = (anchor: Address) => !isPricedView(chain.anchors[anchor])
  return (
    work.everyone ||
    setup.stables.some(({ token }) => isNew(token) && moment.stable(token)?.status !== 'SUSPENDED') ||
    setup.routingAssets.some(
      asset => isNew(asset) && moment.valuations.get(asset)?.evaluation.kind === 'PRICED',
    )
  )
}

/** Pools published without a feed or without the value of their depth, which is available now. */
function* incomplete(moment: Moment): Generator<Pool> {
  for (const pool of moment.state.pools.values()) {
    if (pool.published === null) continue
    const { depth, reason } = pool.published.state
    const isUnvalued = depth === null && pool.state.depth !== null
    if (reason === 'FEED' || (isUnvalued && moment.edge(pool).capacity !== null)) yield pool
  }
}

function publishTokens(moment: Moment, work: Work, writer: RecordWriter): void {
  const { state } = moment
  const anchors = anchorsOf(state.setup)
  for (const anchor of anchors) {
    const evaluation = moment.valuations.get(anchor)?.evaluation ?? evaluate(moment, anchor)
    consider(moment, work, writer, state.tokens.get(anchor) as Token, evaluation)
    triggers.externalAnchor(moment, work, anchor, evaluation)
  }
  const isAnchor = new Set(anchors)
  const asked = work.everyone ? state.tokens.keys() : new Set([...work.own, ...work.look])
  const tokens = [...asked].filter(address => !isAnchor.has(address)).sort()
  for (const address of tokens) {
    const token = state.tokens.get(address)
    if (token === undefined) continue
    if (isActive(token)) consider(moment, work, writer, token, evaluate(moment, address))
    // A dormant token was removed from the queue for good: it must not return after a restart.
    else setDue(state, token, null, false)
  }
}

/** Publishes a token if its evaluation requires it, and sets the time of the next evaluation. */
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
  const decision = work.again
    ? { value: true, untilMs: FOREVER }
    : isPublished(token.published, evaluation, lookedAt(moment, isOwn, work.orphaned))
  if (decision.value) {
    const references = referencesOf(moment, evaluation)
    const compact = compactOf(evaluation, state.policyView.version)
    const next: PublishedToken = { recordId: writer.nextId(), compact, references }
    writer.token(token, next, evaluation)
    setPublishedToken(state, token, next, evaluation)
  }
  const againMs = decision.untilMs === FOREVER ? null : decision.untilMs
  setDue(state, token, soonest(evaluation.dueMs, againMs), againMs !== null)
  setAged(state, token, evaluation.own.isAged)
  refile(state, token, before)
  // A change to the depth of a hop, or to its decimals, always evaluates its token as its own.
  if (isOwn) fileDepths(state, token)
}

const lookedAt = (moment: Moment, isOwn: boolean, orphaned: ReadonlySet<string>): Looked => ({
  atMs: moment.atMs,
  ttlMs: moment.ttlMs,
  policyVersion: moment.state.policyView.version,
  republish: moment.policy.republish,
  isOwn,
  orphaned,
  isSameShown: (last, next) => isSameShown(moment, last, next),
  hasAnchorMoved: published => hasAnchorMoved(moment, published),
})

/** Tracks tokens whose freshness improves when a block is proven. */
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

/** Whether a reader would see no difference except the time of evaluation. */
function isSameShown(moment: Moment, last: CompactPriced, next: Priced): boolean {
  const { selected, support } = next
  // Most differences show in one of these fields, and the rest need not be written.
  if (selected !== null && selected.weight.toString() !== last.selected?.weight_microusd) return false
  if (support !== null && bpsText(support.madBps) !== last.support?.mad_bps) return false
  const shown = compactOf(next, moment.state.policyView.version) as CompactPriced
  const { evaluated_at_ms, as_of, expires_at_ms } = last
  return JSON.stringify({ ...shown, evaluated_at_ms, as_of, expires_at_ms }) === JSON.stringify(last)
}

function hasAnchorMoved(moment: Moment, published: PublishedToken): boolean {
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
  const stable = moment.stable(anchor)
  return stable === null || stable.status === 'SUSPENDED' ? null : stable.usd
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
