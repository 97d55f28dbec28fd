/**
 * The step function. `step(state, input)` folds one input into the state and returns the outcome. It never awaits,
 * never reads a clock, never does I/O. The same inputs give the same bytes.
 *
 * The state changes in place and belongs to its one caller; its previous values are kept in the journals of blocks
 * that are not yet final. A step that throws has broken an invariant: the state is then undefined and must be rebuilt
 * from the last commit.
 */
import type { EntityKey } from './entities.ts'
import { unreachable } from './assert.ts'
import { applyBalances } from './chain/backing.ts'
import { applyBlock, applyFinality, applyReorg } from './chain/blocks.ts'
import { applyLookBack } from './chain/lookBackInput.ts'
import { applyRebase } from './chain/rebase.ts'
import { applyFeedAnswers, applyStable } from './chain/feedAnswers.ts'
import { applyFacts, applyLoad, applyRecheck } from './chain/readings.ts'
import { knownToken } from './chain/registry.ts'
import { applySellability } from './chain/sellability.ts'
import { isSilentAt } from './feedSilence.ts'
import type { FeedHealth, Input } from './input.ts'
import { feedScore } from './rules/feedAndState.ts'
import { policyVersion } from './policy/policyVersion.ts'
import { fileReferences } from './memory/filing.ts'
import { publish } from './republish.ts'
import { triggers } from './triggers.ts'
import type { EngineRecord } from './record.ts'
import type { State } from './state.ts'
import { count, type Ms } from './units.ts'
import { type Need, newWork, type Work } from './work.ts'

export type StepResult = {
  /** In the order in which they must be sequenced. */
  readonly records: readonly EngineRecord[]
  /** Entities to write in the same commit, sorted; a removed entity is written as absent. */
  readonly changed: readonly EntityKey[]
  readonly needs: readonly Need[]
  /** Hashes of the blocks that this step undid. */
  readonly orphaned: readonly string[]
  /** When to send a `timer` input if nothing else happens first. */
  readonly nextTimerMs: Ms | null
}

export function step(state: State, input: Input): StepResult {
  const work = newWork()
  // A new table: a cleared one keeps a reference from the old table to the new one, and while the old one waits
  // for a full collection every evaluation since counts as reachable.
  state.index.changed = new Set()
  state.index.evaluations = new Map()
  state.chain = { ...state.chain, steps: count(state.chain.steps + 1) }
  state.index.changed.add('chain')
  apply(state, input, work)
  const records = publish(state, work, input.atMs)
  return {
    records,
    changed: [...state.index.changed].sort(),
    needs: work.needs,
    orphaned: [...work.undone],
    // In a gap no token is evaluated, so nothing falls due before the gap ends.
    nextTimerMs: state.chain.health?.status === 'GAP' ? null : state.index.dues.next(),
  }
}

function apply(state: State, input: Input, work: Work): void {
  switch (input.kind) {
    case 'block':
      return applyBlock(state, input.block, work)
    case 'reorg':
      applyReorg(state, input.ancestor, input.blocks, work)
      return refileOwn(state, work)
    case 'rebase_head':
      applyHealth(state, input.health, input.atMs, work)
      applyRebase(state, input, work)
      return refileOwn(state, work)
    case 'finalize':
      return applyFinality(state, input.number, input.hash, work)
    case 'timer':
      return
    case 'health':
      return applyHealth(state, input.health, input.atMs, work)
    case 'stable':
      return applyStable(state, input, work)
    case 'feed_answer':
      return applyFeedAnswers(state, input, work)
    case 'coverage':
      return applyCoverage(state, input.assets, work)
    case 'policy':
      state.policyView = { policy: input.policy, version: policyVersion(input.policy) }
      return triggers.policy(work, 'POLICY')
    case 'enrol':
    case 'unenrol':
      return applyEnrolment(state, input, work)
    case 'load':
      return applyLoad(state, input.block, input.pools, work)
    case 'look_back':
      return applyLookBack(state, input, work)
    case 'recheck':
      return applyRecheck(state, input.block, input.pools, work)
    case 'sellability':
      applySellability(state, input, input.atMs, work)
      return applyBalances(state, input.block, input.balances ?? [], work)
    case 'token_facts':
      return applyFacts(state, input.block, input.facts, work)
    case 'pause':
      state.chain = { ...state.chain, paused: input.paused }
      return triggers.policy(work, 'OPERATOR')
    default:
      return unreachable(input)
  }
}

function refileOwn(state: State, work: Work): void {
  for (const address of work.own) {
    const token = state.tokens.get(address)
    if (token !== undefined) fileReferences(state, token)
  }
}

/**
 * A change of status affects every price. The record itself goes out each time, so silence means loss. While the feed
 * was gone, readers showed no price whatever the last record said; when it returns, every token is published again.
 */
function applyHealth(state: State, health: FeedHealth, atMs: Ms, work: Work): void {
  work.first.push({
    type: 'FEED_HEALTH',
    routing: { chain_id: state.setup.chainId, pool_ids: [], token_ids: [] },
    payload: health.record,
  })
  const before = state.chain.health
  const isBack = before !== null && isGone(before, atMs) && feedScore(health.status) > 0
  triggers.health(work, before?.status !== health.status, isBack)
  state.chain = { ...state.chain, health }
}

/** Whether this health, the last one published, makes readers withhold every price at `atMs`. */
const isGone = ({ status, record }: FeedHealth, atMs: Ms): boolean =>
  feedScore(status) === 0 || isSilentAt(record['updated_at_ms'], atMs)

function applyCoverage(
  state: State,
  assets: Extract<Input, { kind: 'coverage' }>['assets'],
  work: Work,
): void {
  triggers.external(work, [...state.coverage.keys(), ...assets.map(each => each.token)])
  state.coverage.clear()
  for (const each of assets) state.coverage.set(each.token, each)
  state.index.changed.add('coverage')
}

function applyEnrolment(
  state: State,
  input: Extract<Input, { kind: 'enrol' | 'unenrol' }>,
  work: Work,
): void {
  const token = knownToken(state, input.token)
  if (input.kind === 'enrol') {
    token.enrolledAtMs = token.enrolledAtMs ?? input.atMs
    token.dormant = null
    if (input.elsewhere !== undefined) {
      if (input.elsewhere.length > 0) token.elsewhere = input.elsewhere
      else delete token.elsewhere
    }
  } else {
    token.enrolledAtMs = null
    token.dormant = input.reason
  }
  state.index.changed.add(`token/${token.address}`)
  triggers.enrolment(work, token.address)
}
