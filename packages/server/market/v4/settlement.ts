/**
 * Derives a tax from what a v4 manager swapped of a token in one transaction, and the Transfer logs to and from it.
 *
 * The manager holds the tokens of all its pools and nets what it owes and is owed, so a Transfer cannot be matched with
 * a single swap. It can be with all swaps of the token together: either their sum equals what the Transfer logs moved,
 * or the manager did nothing else in the transaction, and then the difference is the tax. Anything else shows nothing.
 */
import type { Address } from '../../ops/hex.ts'
import { type SeenTaxes, sum, type Swapped, taxed, type Transfer } from '../seenTax.ts'

/** Nobody takes a share of a purchase to these, so what goes there was withheld by the token; it may also go to itself. */
const BURNT: ReadonlySet<Address> = new Set([`0x${'0'.repeat(40)}`, `0x${'0'.repeat(36)}dead`] as const)

/** All swaps of one token in a transaction, its Transfer logs there, and how many logs the manager left in it. */
export function settledTax(
  swaps: readonly Swapped[],
  transfers: readonly Transfer[],
  managerLogs: number,
): SeenTaxes | null {
  const [first] = swaps
  const manager = first?.manager ?? null
  if (first === undefined || manager === null || swaps.some(each => each.manager !== manager)) return null
  const came = transfers.filter(({ to }) => to === manager)
  const went = transfers.filter(({ from }) => from === manager)
  const net = swaps.reduce((total, { paidIn, paidOut }) => total + paidIn - paidOut, 0n)
  const isBalanced = sum(came) - sum(went) === net
  if (!isBalanced && managerLogs !== swaps.length) return null
  if (net > 0n && went.length === 0) {
    const payer = onlyOf(came.map(({ from }) => from))
    return payer === null
      ? null
      : taxed('SALE', first, sum(transfers.filter(({ from }) => from === payer)), net)
  }
  if (net < 0n && came.length === 0) {
    const isWithheld = (to: Address) => to === first.token || BURNT.has(to)
    const taken = went.filter(({ to }) => !isWithheld(to))
    const buyer = onlyOf(taken.map(({ to }) => to))
    return buyer === null ? null : taxed('BUY', first, -net, sum(taken))
  }
  return null
}

/** The account that all of them are; null if there is none or another one. */
function onlyOf(accounts: readonly Address[]): Address | null {
  const [first] = accounts
  return first !== undefined && accounts.every(each => each === first) ? first : null
}
