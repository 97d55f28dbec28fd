/** All findings of a run, and the costs derived from them. */
import type { Case } from './cases.ts'
import type { Form } from './ground.ts'
import type { MarketRun } from './market.ts'
import { type Costs, type Demand, fitCosts } from './model.ts'
import { DISK, ELSEWHERE } from './usage.ts'

export type Machine = {
  readonly cores: number
  readonly memoryGib: number
  readonly node: string
  /** The load average before the first form and after the last. */
  readonly loadAverage: readonly [before: number, after: number]
}
export type Report = {
  readonly machine: Machine
  readonly cases: readonly Case[]
  readonly markets: readonly MarketRun[]
  readonly faults: readonly string[]
}

export type RoleCosts = { readonly form: Form; readonly role: string; readonly costs: Costs }
/** Roles outside the service. */
export const OTHERS: readonly string[] = ['chain nodes', 'load', 'witness']

/** The delivered amounts, not the requested ones: a step that fell behind counts with the work it did. */
export const demandOf = (each: Case): Demand => ({
  swap: each.recordsPerSecond - each.pricesPerSecond,
  price: each.pricesPerSecond,
  quote: each.quotesPerSecond,
  // At most as many as are requested, and at most as many as prices change.
  freshQuote: Math.min(each.quotesPerSecond, each.pricesPerSecond),
  delivery: each.deliveriesPerSecond,
})

export const casesOf = (report: Report, form: Form): readonly Case[] =>
  report.cases.filter(each => each.form === form)

/** The best case that held; null when none did. */
export const bestOf = (
  cases: readonly Case[],
  name: Case['name'],
  figure: (each: Case) => number,
): Case | null =>
  cases
    .filter(each => each.name === name && each.isSustained)
    .reduce<Case | null>((best, each) => (best === null || figure(each) > figure(best) ? each : best), null)

/** A form's costs by role, without the mixed case. */
export function costsOf(report: Report, form: Form): readonly RoleCosts[] {
  const cases = casesOf(report, form).filter(({ name }) => name !== 'mixed')
  const roles = (cases[0]?.used ?? [])
    .map(({ role }) => role)
    .filter(role => role !== ELSEWHERE && role !== DISK)
  return roles.map(role => ({
    form,
    role,
    costs: fitCosts(cases.map(each => ({ demand: demandOf(each), cores: coresIn(each, role) }))),
  }))
}

export const coresIn = ({ used }: Case, role: string): number =>
  used.find(each => each.role === role)?.cores ?? 0
export const mibIn = ({ used }: Case, role: string): number => used.find(each => each.role === role)?.mib ?? 0

/** Prices per swap in the case with quotes and sockets, where a block has few swaps of any one pool. */
export function pricesPerSwap(cases: readonly Case[]): number {
  const demands = cases.filter(({ name }) => name === 'quotes' || name === 'sockets').map(demandOf)
  const total = (work: 'swap' | 'price') => demands.reduce((sum, demand) => sum + demand[work], 0)
  return total('price') / total('swap')
}

/**
 * Bytes that each additional socket adds to the API. In one process that is its whole memory, reported by the first
 * role.
 */
export function bytesPerSocket(cases: readonly Case[]): number {
  const sockets = cases.filter(({ name }) => name === 'sockets')
  const [first, last] = [sockets[0], sockets.at(-1)]
  if (first === undefined || last === undefined || first === last) return Number.NaN
  return ((mibIn(last, 'API') - mibIn(first, 'API')) * 2 ** 20) / (last.sockets - first.sockets)
}
