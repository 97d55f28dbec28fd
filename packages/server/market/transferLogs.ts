/**
 * Derives a token's taxes from the Transfer logs around a swap: the amount the sender sent in the transaction compared
 * with what the pool received, and the amount the pool paid out compared with what the first recipient received. It
 * cannot see a tax that the token takes without a log of its own.
 */
import type { PoolEvent } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { Address } from '../ops/hex.ts'
import { uintIn } from './logWords.ts'
import { topicAddress } from './words.ts'

/** Transfer(address,address,uint256) */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export type SeenTaxes = {
  readonly token: Address
  readonly pool: Address
  readonly kind: 'BUY' | 'SALE'
  /** Rounded to the nearest basis point. */
  readonly taxBps: number
}

type Swapped = {
  readonly pool: Address
  readonly token: Address
  readonly paidIn: bigint
  readonly paidOut: bigint
}
type Transfer = { readonly from: Address; readonly to: Address; readonly value: bigint }

/** From swaps that are alone in their transaction: when one pool pays the next, they cannot be told apart. */
export function taxesIn(
  logs: readonly LogEntry[],
  events: readonly PoolEvent[],
  tokenOf: (pool: Address) => { readonly token: Address; readonly side: 0 | 1 } | null,
): readonly SeenTaxes[] {
  const swaps = new Map<string, Swapped[]>()
  for (const event of events) {
    const side = event.event.kind === 'SWAP' ? tokenOf(event.pool) : null
    if (side === null) continue
    const swapped = { pool: event.pool, token: side.token, ...amountsOf(event, side.side) }
    swaps.set(event.transactionHash, [...(swaps.get(event.transactionHash) ?? []), swapped])
  }
  if (swaps.size === 0) return []
  const transfers = transfersOf(logs, swaps)
  return [...swaps].flatMap(([transaction, [swapped, other]]) => {
    if (swapped === undefined || other !== undefined) return []
    const seen = seenIn(swapped, transfers.get(transaction) ?? [])
    return seen === null ? [] : [seen]
  })
}

function transfersOf(
  logs: readonly LogEntry[],
  swaps: ReadonlyMap<string, readonly Swapped[]>,
): ReadonlyMap<string, readonly Transfer[]> {
  const transfers = new Map<string, Transfer[]>()
  for (const log of logs) {
    if (log.topic !== TRANSFER || log.topicCount !== 3) continue
    const token = swaps.get(log.transactionHash)?.[0]?.token
    if (token === undefined || token !== log.address) continue
    const [, from, to] = log.topics
    if (from === undefined || to === undefined) continue
    const transfer = { from: topicAddress(from), to: topicAddress(to), value: uintIn(log, 0) }
    transfers.set(log.transactionHash, [...(transfers.get(log.transactionHash) ?? []), transfer])
  }
  return transfers
}

function seenIn({ token, pool, paidIn, paidOut }: Swapped, transfers: readonly Transfer[]): SeenTaxes | null {
  if (paidIn > 0n && paidOut === 0n) {
    const seller = transfers.find(({ to }) => to === pool)?.from
    const sent = sum(transfers.filter(({ from }) => from === seller))
    return seller === undefined ? null : taxed('SALE', token, pool, sent, paidIn)
  }
  if (paidOut > 0n && paidIn === 0n) {
    const buyer = transfers.findLast(({ from }) => from === pool)?.to
    const arrived = sum(transfers.filter(({ to }) => to === buyer))
    return buyer === undefined ? null : taxed('BUY', token, pool, paidOut, arrived)
  }
  return null
}

function taxed(
  kind: SeenTaxes['kind'],
  token: Address,
  pool: Address,
  sent: bigint,
  arrived: bigint,
): SeenTaxes | null {
  if (sent === 0n) return null
  const kept = sent > arrived ? sent - arrived : 0n
  return { token, pool, kind, taxBps: Number((2n * kept * 10_000n + sent) / (2n * sent)) }
}

/**
 * Amounts moved to or from followed pools in transactions without an event of theirs: a rebase with logs, a gift, a
 * theft. By pool and token, as absolute amounts.
 */
export function movedOutside(
  logs: readonly LogEntry[],
  events: readonly PoolEvent[],
  knows: (pool: Address, token: Address) => boolean,
): ReadonlyMap<Address, ReadonlyMap<Address, bigint>> {
  const own = new Set(events.map(({ pool, transactionHash }) => `${transactionHash}/${pool}`))
  const moved = new Map<Address, Map<Address, bigint>>()
  for (const log of logs) {
    if (log.topic !== TRANSFER || log.topicCount !== 3) continue
    const [, from, to] = log.topics
    for (const topic of [from, to]) {
      const pool = topic === undefined ? null : topicAddress(topic)
      if (pool === null || !knows(pool, log.address) || own.has(`${log.transactionHash}/${pool}`)) continue
      const sums = moved.get(pool) ?? new Map<Address, bigint>()
      moved.set(pool, sums.set(log.address, (sums.get(log.address) ?? 0n) + uintIn(log, 0)))
    }
  }
  return moved
}

const sum = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((total, { value }) => total + value, 0n)

/** What the pool received and paid on one side, gross. */
function amountsOf({ event }: PoolEvent, side: 0 | 1): Pick<Swapped, 'paidIn' | 'paidOut'> {
  if (event.kind !== 'SWAP') return { paidIn: 0n, paidOut: 0n }
  if ('amount0In' in event)
    return side === 0
      ? { paidIn: event.amount0In, paidOut: event.amount0Out }
      : { paidIn: event.amount1In, paidOut: event.amount1Out }
  const net = side === 0 ? event.amount0 : event.amount1
  return net > 0n ? { paidIn: net, paidOut: 0n } : { paidIn: 0n, paidOut: -net }
}
