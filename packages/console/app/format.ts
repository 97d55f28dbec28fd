/**
 * Values formatted for display. These texts are only shown: the exact value is always available too, and nothing is
 * computed from them.
 */
import { exact, type ExactValue } from '@assay/sdk'

/** A plain decimal with about `digits` significant digits, truncated, with separators between thousands. */
export function shortDecimal(display: string, digits = 6): string {
  const [whole = '0', fraction = ''] = display.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  const kept = whole === '0' ? zeros + digits : Math.max(2, digits - whole.length)
  const rest = fraction.slice(0, kept).replace(/0+$/, '')
  return rest === '' ? grouped : `${grouped}.${rest}`
}

/** At least two decimals, as usual for money. */
export function price(value: ExactValue): string {
  const text = shortDecimal(value.display)
  const at = text.indexOf('.')
  if (at === -1) return `$${text}.00`
  return `$${text.length - at === 2 ? `${text}0` : text}`
}

const STEPS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Microdollars as `$34.2k`. */
export function dollars(microusd: string): string {
  const usd = Number(microusd) / 1e6
  for (const [step, letter] of STEPS)
    if (usd >= step) return `$${(usd / step).toFixed(usd >= 100 * step ? 0 : 1)}${letter}`
  return usd >= 10 || usd === 0 ? `$${usd.toFixed(0)}` : `$${usd.toFixed(2)}`
}

/** Atomic units as whole tokens; without known decimals, the units themselves. */
export function amount(units: string, decimals: number | null | undefined, digits = 8): string {
  if (decimals === null || decimals === undefined) return units
  const isNegative = units.startsWith('-')
  const padded = units.replace('-', '').padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals)
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '')
  return `${isNegative ? '−' : ''}${shortDecimal(fraction === '' ? whole : `${whole}.${fraction}`, digits)}`
}

export function duration(ms: number): string {
  const s = Math.max(0, ms) / 1000
  if (s < 60) return `${Math.floor(s)} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h`
  return `${Math.floor(s / 86_400)} d`
}

/** How long an hour's change covers, from exact prices; basis points as percent with its sign. */
export function changeText(bps: number): string {
  if (bps === 0) return '0.00%'
  return `${bps > 0 ? '+' : '−'}${(Math.abs(bps) / 100).toFixed(2)}%`
}

/** From one price to another in basis points, cut toward zero. */
export function changeBps(from: ExactValue, to: ExactValue): number {
  const [then, now] = [exact.from(from), exact.from(to)]
  const scaled = (now.num * then.den - then.num * now.den) * 10_000n
  return Number(scaled / (then.num * now.den))
}

export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`
export const shortHash = (hash: string): string => `${hash.slice(0, 10)}…${hash.slice(-4)}`
export const count = (value: number): string => value.toLocaleString('en-US')
/** `1 route`, `2 routes`. */
export const counted = (value: number, what: string): string =>
  `${count(value)} ${what}${value === 1 ? '' : 's'}`
export const clockTime = (ms: number): string => new Date(ms).toLocaleTimeString('en-GB')
export const dateTime = (ms: number): string =>
  new Date(ms).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** `INSUFFICIENT_HISTORY` as words. */
export const words = (code: string): string => {
  if (code === 'OK') return code
  if (code === 'FEED') return 'No feed'
  if (code === 'OPERATOR') return 'By operator'
  const text = code
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^amm\b/, 'AMM')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The world's remark belongs in the documentation, not in every row. */
export const chainName = (name: string): string => name.replace(/ \(local world\)$/, '')

/** A fee in millionths as percent. */
export const fee = (ppm: number): string => `${(ppm / 10_000).toString()}%`
