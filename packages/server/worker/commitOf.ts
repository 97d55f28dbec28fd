/**
 * Builds the commit that makes a step of the engine durable: changed entities as text, records with the full quotes
 * behind them, rows of pools and tokens, and the block's pool events.
 */
import {
  encodeEntity,
  type EngineRecord,
  type Input,
  QuoteWriter,
  roleOf,
  type State,
  type StepResult,
  type Written,
} from '@assay/engine'
import { unsealed } from '../store/envelope.ts'
import type { PoolEventDraft, PoolFacts, RecordDraft, StepCommit, TokenFacts } from '../store/port.ts'
import { poolEventDrafts } from './poolEvents.ts'

/** What the store already contains, so that unchanged rows are not written again. */
export type Stored = { readonly pools: Set<string>; readonly tokens: Map<string, string> }

export function commitOf(
  state: State,
  input: Input,
  result: StepResult,
  before: { readonly tipHash: string | null },
  stored: Stored,
): StepCommit {
  const { chain, policyView, setup } = state
  const quotes = new QuoteWriter(setup.chainId, policyView.version)
  const blocks = input.kind === 'block' ? [input.block] : input.kind === 'reorg' ? input.blocks : []
  return {
    chainId: setup.chainId,
    step: chain.steps,
    tip: chain.tip,
    previousTipHash: before.tipHash,
    atMs: input.atMs,
    records: result.records.map(record => unsealed(draftOf(state, record, quotes))),
    entities: result.changed
      .filter(key => !key.startsWith('quote/'))
      .map(key => ({ key, text: encodeEntity(state, key) })),
    ...poolRows(state, result, stored),
    tokens: tokenRows(state, result, stored),
    events: blocks.flatMap((block): PoolEventDraft[] =>
      poolEventDrafts(block, pool => state.pools.has(pool)),
    ),
    orphanedBlocks: result.orphaned,
    finalizedNumber: input.kind === 'finalize' ? input.number : null,
    input: isFromChain(input)
      ? null
      : JSON.stringify(input, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  }
}

function draftOf(state: State, record: EngineRecord, quotes: QuoteWriter): RecordDraft {
  return {
    type: record.type,
    routing: record.routing,
    payload: record.payload,
    quote: quoteOf(state, record, quotes),
  }
}

/** The full quote behind a token's record, as evaluated in this step. */
function quoteOf(state: State, record: EngineRecord, quotes: QuoteWriter): Written | null {
  if (record.type !== 'PRICE_UPSERT' && record.type !== 'PRICE_RETRACT') return null
  if (record.payload.scope !== 'token') return null
  const address = `0x${record.payload.token_id.slice(26)}` as const
  const evaluation = state.index.evaluations.get(address)
  if (evaluation === undefined) return null
  return quotes.of(evaluation)
}

function poolRows(
  state: State,
  result: StepResult,
  stored: Stored,
): Pick<StepCommit, 'pools' | 'removedPools'> {
  const pools: PoolFacts[] = []
  const removedPools: string[] = []
  for (const key of result.changed) {
    if (!key.startsWith('pool/')) continue
    const address = key.slice('pool/'.length) as `0x${string}`
    const pool = state.pools.get(address)
    if (pool === undefined) {
      if (stored.pools.delete(address)) removedPools.push(address)
    } else if (!stored.pools.has(address)) {
      stored.pools.add(address)
      pools.push({
        poolAddress: address,
        family: pool.terms.family,
        deploymentId: pool.deploymentId,
        feePpm: Number(pool.feePpm),
        token0: pool.token0,
        token1: pool.token1,
        createdBlock: pool.createdBlock,
      })
    }
  }
  return { pools, removedPools }
}

function tokenRows(state: State, result: StepResult, stored: Stored): TokenFacts[] {
  const rows: TokenFacts[] = []
  for (const key of result.changed) {
    if (!key.startsWith('token/')) continue
    const token = state.tokens.get(key.slice('token/'.length) as `0x${string}`)
    if (token === undefined) continue
    const row: TokenFacts = {
      tokenAddress: token.address,
      symbol: token.symbol,
      name: token.name,
      decimals: token.decimals?.value ?? null,
      role: roleOf(state.setup, token.address),
      enrolledAtMs: token.enrolledAtMs,
    }
    const text = JSON.stringify(row)
    if (stored.tokens.get(token.address) === text) continue
    stored.tokens.set(token.address, text)
    rows.push(row)
  }
  return rows
}

const isFromChain = (input: Input): boolean => ['block', 'reorg', 'finalize', 'timer'].includes(input.kind)
