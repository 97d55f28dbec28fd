/** A token's tax as one transaction shows it: what was sent, compared with what arrived. */
import type { Address } from '../ops/hex.ts'

export type SeenTaxes = {
  readonly token: Address
  readonly pool: Address
  readonly kind: 'BUY' | 'SALE'
  /** Rounded to the nearest basis point. */
  readonly taxBps: number
}

/** What a swap moved of a token, gross. */
export type Swapped = {
  readonly pool: Address
  /** The v4 manager that holds its tokens; null for a pool that holds its own. */
  readonly manager: Address | null
  readonly token: Address
  readonly paidIn: bigint
  readonly paidOut: bigint
}

export type Transfer = { readonly from: Address; readonly to: Address; readonly value: bigint }

/** Null when nothing was sent. */
export function taxed(
  kind: SeenTaxes['kind'],
  { token, pool }: Swapped,
  sent: bigint,
  arrived: bigint,
): SeenTaxes | null {
  if (sent === 0n) return null
  const kept = sent > arrived ? sent - arrived : 0n
  return { token, pool, kind, taxBps: Number((2n * kept * 10_000n + sent) / (2n * sent)) }
}

export const sum = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((total, { value }) => total + value, 0n)
