/** A result as a line of text: name, ours, peer or limit, ratio, goal, verdict. */
import type { Measured, Result } from './harness.ts'

const WIDTHS = { ours: 18, peer: 44, ratio: 10, goal: 10 } as const

export function header(nameWidth: number): string {
  return line(nameWidth, 'benchmark', 'ours', 'peer or limit', 'ratio', 'goal', '')
}

export function row(result: Result, nameWidth: number): string {
  const { goal, ratio, error } = result
  const first = line(
    nameWidth,
    result.name,
    result.ours === null ? '-' : amount(result.ours, result),
    peerText(result),
    ratio === null ? '-' : `${significant(ratio)}×`,
    goal === null ? '-' : `${goal.sense === 'at least' ? '≥' : '≤'} ${goal.ratio}×`,
    result.verdict === 'missed' ? 'MISSED' : result.verdict === 'failed' ? 'FAILED' : result.verdict,
  )
  const more = error === null ? result.notes : [...result.notes, ...error.split('\n')]
  return [first, ...more.map(note => `    ${note}`)].join('\n')
}

function line(
  nameWidth: number,
  name: string,
  ours: string,
  peer: string,
  ratio: string,
  goal: string,
  verdict: string,
) {
  return [
    name.padEnd(nameWidth),
    ours.padStart(WIDTHS.ours),
    peer.padEnd(WIDTHS.peer),
    ratio.padStart(WIDTHS.ratio),
    goal.padStart(WIDTHS.goal),
    verdict,
  ]
    .join('  ')
    .trimEnd()
}

function peerText(result: Result): string {
  const { peer } = result
  if (peer === null) return '-'
  if ('absent' in peer) return `absent (${peer.absent})`
  if ('value' in peer) return `limit ${limitText(peer.value, peer.unit)}`
  return `${amount(peer, result)} ${peer.name}`
}

/** In the unit of the limit if there is one, otherwise time per operation. */
function amount(measured: Measured, { peer, unit }: Result): string {
  if (peer !== null && 'value' in peer)
    return limitText(measured.figure ?? 1e9 / measured.nsPerOperation, peer.unit)
  return `${duration(measured.nsPerOperation)}/${unit}`
}

const limitText = (value: number, unit: 'per second' | 'bytes'): string =>
  unit === 'bytes' ? `${significant(value / 2 ** 20)} MiB` : `${significant(value)}/s`

export function duration(ns: number): string {
  if (ns < 1e3) return `${significant(ns)} ns`
  if (ns < 1e6) return `${significant(ns / 1e3)} µs`
  return ns < 1e9 ? `${significant(ns / 1e6)} ms` : `${significant(ns / 1e9)} s`
}

/** Three significant digits, and all digits of a large number. */
export function significant(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return Number(value.toPrecision(3)).toString()
}
