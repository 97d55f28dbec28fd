/**
 * Compares the model with the run. The mixed case was not used to fit the model. The full machine was; there the test
 * is that cores add up.
 */
import type { Case } from './cases.ts'
import type { Form } from './ground.ts'
import { coresOf, type Demand } from './model.ts'
import { bestOf, casesOf, coresIn, costsOf, demandOf, OTHERS, type Report, type RoleCosts } from './report.ts'
import { ELSEWHERE } from './usage.ts'

export type Checked = {
  readonly what: string
  readonly model: number
  readonly measured: number
  readonly unit: string
  /** Whether the case was used to fit the costs. */
  readonly isFitted: boolean
}

/** Roles that are single threads, with their number. One thread of the load requests the quotes. */
const THREADS: Readonly<Record<Form, Readonly<Record<string, number>>>> = {
  one: { API: 1, load: 1 },
  three: { API: 2, load: 1 },
}

export function checksOf(report: Report, form: Form): readonly Checked[] {
  const cases = casesOf(report, form)
  const all = costsOf(report, form)
  const mixed = cases.find(({ name }) => name === 'mixed')
  const service = all.filter(({ role }) => !OTHERS.includes(role))
  const ofMixed = (mixed === undefined ? [] : service).map(
    ({ role, costs }): Checked => ({
      what: `mixed case, ${role}`,
      model: coresOf(costs, demandOf(mixed as Case)),
      measured: coresIn(mixed as Case, role),
      unit: 'cores',
      isFitted: false,
    }),
  )
  return [...ofMixed, ...fullSwaps(report, cases, all), ...fullQuotes(report, cases, all)]
}

/** Empty when the steps ended before the machine was full. */
function fullSwaps(report: Report, cases: readonly Case[], all: readonly RoleCosts[]): readonly Checked[] {
  const best = bestOf(cases, 'swaps', each => each.swapsPerSecond)
  if (best === null || cases.every(each => each.name !== 'swaps' || each.isSustained)) return []
  // Prices stop growing once every pool trades in every block.
  const model = mostOf(freeCores(report, best), all, 'swap', { ...demandOf(best), swap: 0 })
  return [
    {
      what: 'swaps with the machine saturated',
      model,
      measured: best.swapsPerSecond,
      unit: '/s',
      isFitted: true,
    },
  ]
}

function fullQuotes(report: Report, cases: readonly Case[], all: readonly RoleCosts[]): readonly Checked[] {
  const [best] = cases
    .filter(({ name }) => name === 'quotes')
    .sort((a, b) => b.quotesPerSecond - a.quotesPerSecond)
  if (best === undefined) return []
  const model = mostOf(freeCores(report, best), all, 'quote', { ...demandOf(best), quote: 0 })
  return [
    {
      what: 'quotes with a thread or the machine saturated',
      model,
      measured: best.quotesPerSecond,
      unit: '/s',
      isFitted: true,
    },
  ]
}

const freeCores = (report: Report, during: Case): number => report.machine.cores - coresIn(during, ELSEWHERE)

/** Until the machine is full or, for quotes, a thread that cannot be split. */
function mostOf(cores: number, all: readonly RoleCosts[], work: keyof Demand, beside: Demand): number {
  const upTo = (limit: number, some: readonly RoleCosts[]) => {
    const used = some.reduce((sum, { costs }) => sum + coresOf(costs, beside), 0)
    return ((limit - used) * 1e6) / some.reduce((sum, { costs }) => sum + costs[work], 0)
  }
  const threads = work === 'quote' ? all : []
  return Math.min(
    upTo(cores, all),
    ...threads.flatMap(each => {
      const limit = THREADS[each.form][each.role]
      return limit === undefined ? [] : [upTo(limit, [each])]
    }),
  )
}
