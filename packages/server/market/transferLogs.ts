/**
 * Derives a token's taxes from the Transfer logs around a swap: the amount the sender sent in the transaction compared
 * with what the pool received, and the amount the pool paid out compared with what the first recipient received. It
 * cannot see a tax that the token takes without a log of its own.
 */
import type { PoolEvent } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { Address } from '../ops/hex.ts'
import { uintIn } from './logWords.ts'
import { type SeenTaxes, sum, type Swapped, taxed, type Transfer } from './seenTax.ts'
import { settledTax } from './v4/settlement.ts'
import { topicAddress } from './abiWords.ts'

/** Transfer(address,address,uint256) */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** How a pool holds the token whose taxes are wanted. */
export type TaxedSide = Pick<Swapped, 'token' | 'manager'> & { readonly side: 0 | 1 }

/**
 * From a swap of a pool that holds its own tokens only if it is alone in its transaction: when one pool pays the next,
 * they cannot be distinguished.
 */
export function taxesIn(
  logs: readonly LogEntry[],
  events: readonly PoolEvent[],
  sideOf: (pool: Address) => TaxedSide | null,
): readonly SeenTaxes[] {
  const swaps = new Map<string, Swapped[]>()
  for (const event of events) {
    const known = event.event.kind === 'SWAP' ? sideOf(event.pool) : null
    if (known === null) continue
    const { token, manager, side } = known
    const swapped = { pool: event.pool, token, manager, ...amountsOf(event, side) }
    addTo(swaps, event.transactionHash, swapped)
  }
  if (swaps.size === 0) return []
  const { transfers, managerLogs } = seenOf(logs, swaps)
  return [...swaps].flatMap(([transaction, all]) => {
    const transfersOf = (token: Address) => transfers.get(`${transaction}/${token}`) ?? []
    const [first, ...others] = all as [Swapped, ...Swapped[]]
    if (others.length === 0 && first.manager === null) return seenIn(first, transfersOf(first.token)) ?? []
    return [...new Set(all.map(({ token }) => token))].flatMap(token => {
      const own = all.filter(each => each.token === token)
      const left = managerLogs.get(`${transaction}/${own[0]?.manager}`) ?? 0
      return settledTax(own, transfersOf(token), left) ?? []
    })
  })
}

/** By transaction: Transfer logs of each swapped token, and how many logs each manager left. */
function seenOf(logs: readonly LogEntry[], swaps: ReadonlyMap<string, readonly Swapped[]>) {
  const transfers = new Map<string, Transfer[]>()
  const managerLogs = new Map<string, number>()
  for (const log of logs) {
    const all = swaps.get(log.transactionHash)
    if (all === undefined) continue
    const { address, transactionHash } = log
    const key = `${transactionHash}/${address}`
    if (all.some(({ manager }) => manager === address)) managerLogs.set(key, (managerLogs.get(key) ?? 0) + 1)
    if (log.topic !== TRANSFER || log.topicCount !== 3) continue
    if (all.every(({ token }) => token !== address)) continue
    const [, from, to] = log.topics
    if (from === undefined || to === undefined) continue
    addTo(transfers, key, { from: topicAddress(from), to: topicAddress(to), value: uintIn(log, 0) })
  }
  return { transfers, managerLogs }
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

function seenIn(swapped: Swapped, transfers: readonly Transfer[]): SeenTaxes | null {
  const { pool, paidIn, paidOut } = swapped
  if (paidIn > 0n && paidOut === 0n) {
    const seller = transfers.find(({ to }) => to === pool)?.from
    const sent = sum(transfers.filter(({ from }) => from === seller))
    return seller === undefined ? null : taxed('SALE', swapped, sent, paidIn)
  }
  if (paidOut > 0n && paidIn === 0n) {
    const buyer = transfers.findLast(({ from }) => from === pool)?.to
    const arrived = sum(transfers.filter(({ to }) => to === buyer))
    return buyer === undefined ? null : taxed('BUY', swapped, paidOut, arrived)
  }
  return null
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
