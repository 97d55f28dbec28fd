/** Numbers and times in readable form. */
import type { ExactValue } from '@assay/sdk'
import * as exact from '@assay/sdk/exact'

/** Enough digits to distinguish prices and few enough to align. */
const PRICE_DIGITS = 7

export function price(value: ExactValue, digits = PRICE_DIGITS): string {
  const [whole = '0', fraction] = exact.format(exact.from(value), digits).split('.')
  return `$${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`
}

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',')

/** Whole basis points from one price to another, rounded towards zero. */
export function changeBps(before: ExactValue, after: ExactValue): number {
  const [a, b] = [exact.from(before), exact.from(after)]
  const was = a.num * b.den
  return Number(((b.num * a.den - was) * 10_000n) / was)
}

export const percent = (bps: number): string => `${bps > 0 ? '+' : ''}${(bps / 100).toFixed(2)}%`

/** Whole microdollars as dollars and cents, rounded down. */
export function dollars(microusd: string): string {
  const cents = BigInt(microusd) / 10_000n
  return `$${(cents / 100n).toLocaleString('en-US')}.${(cents % 100n).toString().padStart(2, '0')}`
}

/** What a rule measured, in its own unit; money as money. */
export function measure(text: string): string {
  const [, microusd] = /^(\d+) microusd$/.exec(text) ?? []
  return microusd === undefined ? text : dollars(microusd)
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} d`
}

/** UTC, to the second. */
export const time = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').slice(0, 19)

export const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 19)
