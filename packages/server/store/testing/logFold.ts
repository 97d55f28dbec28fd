/**
 * The current state as a reader of the stream would build it: an independent fold of the envelopes, which
 * also checks what each of them states about the past.
 */
import { fromId } from '@assay/sdk/wire'
import { expect } from 'vitest'
import type { LogRecord } from '../port.ts'

type Json = Readonly<Record<string, unknown>>
type Last = { readonly recordId: string; readonly sequence: number; readonly state: Json | null }

export type Folded = {
  readonly tokens: ReadonlyMap<string, Last>
  readonly pools: ReadonlyMap<string, Last>
  readonly health: ReadonlyMap<number, Json>
}

export const keyOf = (chainId: number, address: string): string => `${chainId} ${address}`

export function foldLog(log: readonly LogRecord[]): Folded {
  const tokens = new Map<string, Last>()
  const pools = new Map<string, Last>()
  const health = new Map<number, Json>()
  for (const record of log) {
    const { stream_sequence, routing, type, payload } = JSON.parse(record.envelope)
    expect(stream_sequence).toBe(record.sequence)
    expect(routing).toEqual({
      chain_id: record.chainId,
      pool_ids: record.poolIds,
      token_ids: record.tokenIds,
    })
    expect(type).toBe(record.type)
    if (type === 'SWAP_OBSERVED') continue
    if (type === 'FEED_HEALTH') {
      health.set(record.chainId, payload)
      continue
    }
    const { scope, chain_id, token_id, pool_id, record_id, ...said } = payload
    const last = scope === 'token' ? tokens : pools
    const key = keyOf(chain_id, fromId(token_id ?? pool_id))
    if (type === 'PRICE_RETRACT') {
      const before = last.get(key)
      expect(said.retracted).toEqual({ record_id: before?.recordId, stream_sequence: before?.sequence })
      expect(typeof said.reason).toBe('string')
    }
    const now = type === 'PRICE_RETRACT' ? said.current : said
    if (scope === 'token') expect(now.as_of.stream_sequence).toBe(record.sequence)
    last.set(key, { recordId: record_id, sequence: record.sequence, state: now })
  }
  return { tokens, pools, health }
}
