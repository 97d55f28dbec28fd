/**
 * Judges a token by the trips of a probe. There are two looks: the whole trip within one block, and a sale some
 * blocks after the purchase, by an account without code.
 *
 * Law: a token is UNSELLABLE only when both sizes failed in a later block. A failure within one block alone may be an
 * honest cool-down, or a ban on contracts, and is UNKNOWN.
 */
import type { Hex } from './hex.ts'
import type { Passage, ProbeStep, Trip } from './plan.ts'

export type SellabilityStatus = 'SELLABLE' | 'TAXED' | 'UNSELLABLE' | 'UNKNOWN'
export type SellabilityMethod = 'CALL_OVERRIDE' | 'SIMULATE' | 'TRANSFER_LOGS'

/**
 * SIZE_LIMITED: only one of two sizes could be sold. TRANSFER_REVERTED: the token can be sold, but not sent to an
 * account. NO_PATH: the pool's other token cannot be reached from native currency. NO_OVERRIDES: no endpoint runs the
 * probe.
 */
export type SellabilityReason =
  | 'BUY_REVERTED'
  | 'SELL_REVERTED'
  | 'SIZE_LIMITED'
  | 'TRANSFER_REVERTED'
  | 'SELL_RESTRICTED'
  | 'NO_PATH'
  | 'NO_OVERRIDES'
  | 'OUT_OF_GAS'

export type Judgement = {
  readonly status: SellabilityStatus
  readonly buyTaxBps: number | null
  readonly transferTaxBps: number | null
  readonly sellTaxBps: number | null
  readonly reason: SellabilityReason | null
  readonly method: SellabilityMethod | null
  /** The text or selector of the revert, made printable; null when nothing reverted. */
  readonly revert: string | null
}

/** Both sizes, the smaller first; null when no endpoint ran that look. */
export type Looks = { readonly now: readonly Trip[] | null; readonly later: readonly Trip[] | null }

const NOTHING = { buyTaxBps: null, transferTaxBps: null, sellTaxBps: null } as const

export function judge({ now, later }: Looks): Judgement {
  const decisive = isTelling(later) ? later : isTelling(now) ? now : null
  if (decisive === null) return unknown(now ?? later)
  const isLater = decisive === later
  const method = isLater ? 'SIMULATE' : 'CALL_OVERRIDE'
  const passed = decisive.filter(isSold)
  const revert = revertOf(decisive)
  if (passed.length === 0) {
    const reason = decisive.some(({ failed }) => !failed.includes('BUY')) ? 'SELL_REVERTED' : 'BUY_REVERTED'
    return { status: isLater ? 'UNSELLABLE' : 'UNKNOWN', ...taxesOf([decisive]), reason, method, revert }
  }
  const looks = isTelling(now) && now !== decisive && now.some(isSold) ? [decisive, now] : [decisive]
  const taxes = taxesOf(looks)
  const isTaxed = [taxes.buyTaxBps, taxes.transferTaxBps, taxes.sellTaxBps].some(tax => (tax ?? 0) > 0)
  const reason =
    passed.length < decisive.length
      ? 'SIZE_LIMITED'
      : passed.some(({ failed }) => failed.includes('MOVE'))
        ? 'TRANSFER_REVERTED'
        : null
  return { status: isTaxed ? 'TAXED' : 'SELLABLE', ...taxes, reason, method, revert }
}

/** For an endpoint that runs no probe, or a token that cannot be reached. */
export const unknownFor = (reason: SellabilityReason): Judgement => ({
  status: 'UNKNOWN',
  ...NOTHING,
  reason,
  method: null,
  revert: null,
})

/** Rounded to the nearest basis point; null when nothing was sent. */
export function taxBps(passage: Passage | null): number | null {
  if (passage === null || passage.sent === 0n) return null
  const { sent, arrived } = passage
  const kept = sent > arrived ? sent - arrived : 0n
  return Number((2n * kept * 10_000n + sent) / (2n * sent))
}

/** With fewer units than this, rounding can hide a tax or create one. */
function taxesOf(looks: readonly (readonly Trip[])[]) {
  const most = (of: (trip: Trip) => Passage | null): number | null =>
    looks.flat().reduce<number | null>((highest, trip) => {
      const bps = taxBps(of(trip))
      return bps === null || (highest ?? -1) > bps ? highest : bps
    }, null)
  return {
    buyTaxBps: most(trip => trip.bought),
    transferTaxBps: most(trip => trip.moved),
    sellTaxBps: most(trip => trip.sold),
  }
}

const isSold = ({ failed }: Trip): boolean => !failed.some(step => step !== 'MOVE')

const SILENT: readonly ProbeStep[] = ['FUND', 'GAS']

/** Both sizes reached the token. */
const isTelling = (look: readonly Trip[] | null): look is readonly Trip[] =>
  look !== null && !look.some(({ failed }) => failed.some(step => SILENT.includes(step)))

function unknown(look: readonly Trip[] | null): Judgement {
  if (look === null) return unknownFor('NO_OVERRIDES')
  const isGas = look.some(({ failed }) => failed.includes('GAS'))
  return { ...unknownFor(isGas ? 'OUT_OF_GAS' : 'NO_PATH'), revert: revertOf(look) }
}

function revertOf(look: readonly Trip[]): string | null {
  const said = look.map(({ revert }) => revert).find(revert => revert !== null)
  return said === undefined || said === null ? null : wordsOf(said)
}

/** The text of an `Error(string)`, or the first bytes of anything else: a hostile token chooses them. */
export function wordsOf(revert: Hex): string {
  const isError = revert.startsWith('0x08c379a0') && revert.length >= 138
  if (!isError) return revert === '0x' ? '(no reason given)' : revert.slice(0, 10)
  const length = Math.min(Number(BigInt(`0x${revert.slice(74, 138)}`) & 0xffn), 60)
  const bytes = revert.slice(138, 138 + 2 * length).match(/../g) ?? []
  return bytes.map(byte => printable(Number.parseInt(byte, 16))).join('')
}

const printable = (code: number): string => (code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '?')
