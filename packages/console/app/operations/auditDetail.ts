/** The detail of an audited change, kept as JSON, as text: what has no value is left out, times are dates. */
import { dateTime } from '../format.ts'

export function detailText(json: string): string {
  const detail = JSON.parse(json) as Readonly<Record<string, unknown>>
  return Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => partText(name, value))
    .join(' · ')
}

function partText(name: string, value: unknown): string {
  if (name.endsWith('_at_ms')) return `${name.replace('_at_ms', '')} ${dateTime(Number(value))}`
  const text = typeof value === 'string' ? value : isWords(value) ? value.join(', ') : JSON.stringify(value)
  return `${name.replaceAll('_', ' ')}: ${text}`
}

const isWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string')
