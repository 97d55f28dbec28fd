/** Converts rows of the store to wire objects (R-http-5, R-record-4, R-record-6). */
import { idOf } from '@assay/engine'
import type { HistoryStore } from '../../store/history.ts'
import type { EventRow, PoolRow, TokenRow } from '../../store/port.ts'
import type { Reading } from '@assay/sdk/wire'
import { presentText } from './stateAsShown.ts'
import { type PoolMoment, presentAt, readingOfPool } from './poolReading.ts'

type Hex = `0x${string}`

/** The pool as of the moment of reading. */
export function poolText(row: PoolRow, reading: Reading, moment: PoolMoment): object {
  return poolWith(row, reading, state => ({ state: presentAt(state, moment) }))
}

/** A row of the snapshot: the state as committed and, if requested, its present values beside it. */
export function snapshotText(row: PoolRow, reading: Reading, moment: PoolMoment | null): object {
  return poolWith(row, reading, state =>
    moment === null ? { state } : { state, reading: readingOfPool(state, moment) },
  )
}

function poolWith(
  row: PoolRow,
  reading: Reading,
  shown: (state: object) => { readonly state: object; readonly reading?: object },
): object {
  const stored = row.state === null ? null : (JSON.parse(row.state) as { readonly manager_address?: Hex })
  const { state, ...beside } = stored === null ? { state: null } : shown(stored)
  return {
    chain_id: row.chainId,
    pool_address: row.poolAddress,
    pool_id: idOf(row.poolAddress as Hex),
    ...(stored?.manager_address !== undefined && { manager_address: stored.manager_address }),
    family: row.family,
    deployment_id: row.deploymentId,
    fee_ppm: row.feePpm,
    ...sidesText(row, reading),
    created_block: row.createdBlock,
    state: state === null ? null : { ...state, stream_sequence: row.sequence },
    ...beside,
  }
}

/** Both tokens of a pool, each with its price. */
export const sidesText = (row: PoolRow, reading: Reading): object => ({
  token0: {
    token_address: row.token0,
    token_id: idOf(row.token0 as Hex),
    price: presentText(row.prices.token0, reading),
  },
  token1: {
    token_address: row.token1,
    token_id: idOf(row.token1 as Hex),
    price: presentText(row.prices.token1, reading),
  },
})

export function tokenText(row: TokenRow, reading: Reading) {
  const price = presentText(row.price, reading) as { state: string } | null
  return {
    chain_id: row.chainId,
    token_address: row.tokenAddress,
    token_id: idOf(row.tokenAddress as Hex),
    symbol: row.symbol,
    name: row.name,
    decimals: row.decimals,
    role: row.role,
    state: price?.state ?? 'PENDING',
    price,
    enrolled_at_ms: row.enrolledAtMs,
  }
}

export const eventText = (row: EventRow): object => ({
  chain_id: row.chainId,
  pool_id: idOf(row.poolAddress as Hex),
  kind: row.kind,
  block_number: row.blockNumber,
  block_hash: row.blockHash,
  log_index: row.logIndex,
  ...(JSON.parse(row.body) as object),
  finality: row.finality,
})

/** The chain's gaps, oldest first; nothing for a chain without any. */
export async function gapsText(store: Pick<HistoryStore, 'readGaps'>, chainId: number): Promise<object> {
  const gaps = await store.readGaps(chainId)
  if (gaps.length === 0) return {}
  return {
    gaps: gaps.map(({ fromBlock, toBlock, atMs }) => ({
      from_block: fromBlock,
      to_block: toBlock,
      at_ms: atMs,
    })),
  }
}
