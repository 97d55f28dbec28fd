/** A report as tables, the same on the terminal and in docs/CAPACITY.md. */
import type { Case } from './cases.ts'
import { LAG_BOUND_MS, QUOTE_BOUND_MS } from './cases.ts'
import { checksOf } from './check.ts'
import type { Form } from './ground.ts'
import { logBytesPerSwap, type MarketRun, readBackMicros } from './market.ts'
import { WORK } from './model.ts'
import {
  bestOf,
  bytesPerSocket,
  casesOf,
  coresIn,
  costsOf,
  mibIn,
  OTHERS,
  pricesPerSwap,
  type Report,
} from './report.ts'
import { ELSEWHERE, type Used } from './usage.ts'

/** Cores that an idle machine uses for itself. */
const LITTLE = 0.1

const FORMS: Readonly<Record<Form, string>> = {
  one: 'one process, SQLite',
  three: 'one writer, two API nodes, PostgreSQL',
}

export function measuredPart(report: Report): string {
  const { cores, memoryGib, node, loadAverage } = report.machine
  const forms = formsIn(report)
  const machine = `${cores} cores, ${memoryGib.toFixed(0)} GiB, Node ${node}. The load average was ${loadAverage[0].toFixed(1)} before and ${loadAverage[1].toFixed(1)} after.`
  return [
    machine,
    ...disturbance(report),
    ...(report.faults.length === 0
      ? ['Nothing was lost and nothing broke.']
      : [`What broke: ${[...new Set(report.faults)].join('; ')}.`]),
    ...(forms.length === 0 ? [] : [headlines(report, forms)]),
    ...forms.map(form => `**${FORMS[form]}**\n\n${casesTable(casesOf(report, form))}`),
    ...(report.markets.length === 0
      ? []
      : [
          `**Without a chain**: the synthetic market, engine, commit and store\n\n${marketsTable(report.markets)}`,
        ]),
  ].join('\n\n')
}

export function modelPart(report: Report): string {
  const rows = formsIn(report).flatMap(form =>
    costsOf(report, form)
      .filter(({ role }) => !OTHERS.includes(role))
      .map(({ role, costs }) => [form, role, figure(costs.atRest), ...WORK.map(work => figure(costs[work]))]),
  )
  const micros = ['a swap', 'a price', 'a quote', 'more a fresh one', 'a delivery'].map(each => `µs ${each}`)
  return table(['form', 'role', 'cores at rest', ...micros], rows)
}

export function checkPart(report: Report): string {
  const rows = formsIn(report).flatMap(form =>
    checksOf(report, form).map(({ what, model, measured, unit, isFitted }) => [
      form,
      what,
      `${figure(model)} ${unit}`,
      `${figure(measured)} ${unit}`,
      measured === 0 ? '–' : percent(model / measured - 1),
      isFitted ? 'yes' : 'no',
    ]),
  )
  return table(['form', 'what', 'model says', 'measured', 'off by', 'fitted to these cases'], rows)
}

/** Reported when others used more than a little of the machine during the measurement. */
function disturbance({ cases, machine }: Report): readonly string[] {
  const elsewhere = cases.reduce((sum, each) => sum + coresIn(each, ELSEWHERE), 0) / cases.length
  if (!(elsewhere > LITTLE)) return []
  return [
    `**Disturbed**: other processes used ${elsewhere.toFixed(1)} of the ${machine.cores} cores on average. Rates are too low and costs unreliable; run it again on an idle machine.`,
  ]
}

const formsIn = ({ cases }: Report): readonly Form[] =>
  (['one', 'three'] as const).filter(form => cases.some(each => each.form === form))

function headlines(report: Report, forms: readonly Form[]): string {
  const rows: [string, (cases: readonly Case[]) => string][] = [
    [`swaps/s sustained, lag p99 ≤ ${LAG_BOUND_MS} ms`, swapsText],
    ['prices for each swap, some in a block', cases => figure(pricesPerSwap(cases))],
    [
      `quotes/s, p99 ≤ ${QUOTE_BOUND_MS} ms`,
      cases => figure(bestOf(cases, 'quotes', each => each.quotesPerSecond)?.quotesPerSecond),
    ],
    [
      `sockets, lag p99 ≤ ${LAG_BOUND_MS} ms`,
      cases => figure(bestOf(cases, 'sockets', each => each.sockets)?.sockets),
    ],
    ['KiB a socket', cases => figure(bytesPerSocket(cases) / 1024)],
    [
      'lag of the mixed case: p50, p90, p99, longest',
      cases => lagText(cases.find(({ name }) => name === 'mixed')),
    ],
  ]
  return table(
    ['', ...forms.map(form => FORMS[form])],
    rows.map(([name, text]) => [name, ...forms.map(form => text(casesOf(report, form)))]),
  )
}

/** A bound that no step reached is only a lower one. */
function swapsText(cases: readonly Case[]): string {
  const steps = cases.filter(({ name }) => name === 'swaps')
  const best = figure(bestOf(steps, 'swaps', each => each.swapsPerSecond)?.swapsPerSecond)
  const end = steps.find(({ isSustained }) => !isSustained)
  return end === undefined ? `${best}, the last step` : `${best}; next step: ${end.limit}`
}

function lagText(mixed: Case | undefined): string {
  if (mixed?.latency == null) return '–'
  const { p50Ms, p90Ms, p99Ms, longestMs } = mixed.latency
  return `${[p50Ms, p90Ms, p99Ms, longestMs].map(ms => ms.toFixed(0)).join(', ')} ms`
}

function casesTable(cases: readonly Case[]): string {
  const roles = (cases[0]?.used ?? []).map(({ role }) => role).filter(role => role !== 'witness')
  const weighed = roles.filter(role => !OTHERS.includes(role) && cases.some(each => mibIn(each, role) > 0))
  return table(
    [
      'case',
      'swaps/s',
      'records/s',
      'quotes/s',
      'sockets',
      'deliveries/s',
      'lag p50 / p99 ms',
      'quote p50 / p99 ms',
      ...roles.map(role => `cores ${role}`),
      ...weighed.map(role => `MiB ${memoryOf(role, roles)}`),
      'limit exceeded',
    ],
    cases.map(each => [
      each.name,
      figure(each.swapsPerSecond),
      figure(each.recordsPerSecond),
      each.quotes === null ? '' : figure(each.quotesPerSecond),
      figure(each.sockets),
      figure(each.deliveriesPerSecond),
      each.latency === null ? '–' : `${each.latency.p50Ms.toFixed(0)} / ${each.latency.p99Ms.toFixed(0)}`,
      each.quotes === null ? '' : `${each.quotes.p50Ms.toFixed(1)} / ${each.quotes.p99Ms.toFixed(1)}`,
      ...roles.map(role => coresIn(each, role).toFixed(2)),
      ...weighed.map(role => mibIn(each, role).toFixed(0)),
      each.limit ?? '',
    ]),
  )
}

/** In one process, all its threads share one memory. */
const memoryOf = (role: string, roles: readonly string[]): string =>
  role === 'API' && roles.includes('runtime') ? 'service' : role

/** A row is a name and its value for a run. */
const MARKET_ROWS: readonly (readonly [string, (run: MarketRun) => string])[] = [
  ['swaps/s', ({ written }) => figure(written.swaps / written.seconds)],
  [
    'blocks/s',
    ({ written, swapsPerBlock }) => `${figure(written.blocks / written.seconds)} of ${swapsPerBlock} swaps`,
  ],
  ['records a swap', ({ written }) => figure(written.records / written.swaps)],
  ['engine, µs a swap', ({ written }) => figure((written.engineSeconds * 1e6) / written.swaps)],
  ['text of its commit, µs a swap', ({ written }) => figure((written.textSeconds * 1e6) / written.swaps)],
  ['transaction, µs a swap', ({ written }) => figure((written.storeSeconds * 1e6) / written.swaps)],
  ['cores writer', ({ writing }) => coresText(writing, 'writer')],
  ['cores database', ({ writing }) => coresText(writing, 'database')],
  ['cores elsewhere', ({ writing }) => coresText(writing, ELSEWHERE)],
  ['KiB on the log, a swap', run => figure(logBytesPerSwap(run) / 1024)],
  ['KiB of quotes written, a swap', ({ written }) => figure(written.quoteBytes / written.swaps / 1024)],
  ['KiB the database grew, a swap', ({ written, grownBytes }) => figure(grownBytes / written.swaps / 1024)],
  [
    'KiB of memory a pool, its share of tokens with it',
    ({ known }) => figure(known.engineBytes / known.pools / 1024),
  ],
  ['database, µs a record read back', run => figure(readBackMicros(run))],
]

function marketsTable(markets: readonly MarketRun[]): string {
  return table(
    [
      '',
      ...markets.map(
        ({ store, known }) => `${store}, ${figure(known.pools)} pools, ${figure(known.tokens)} tokens`,
      ),
    ],
    MARKET_ROWS.map(([name, text]) => [name, ...markets.map(text)]),
  )
}

const coresText = (used: readonly Used[], role: string): string =>
  used.find(each => each.role === role)?.cores.toFixed(2) ?? ''

const percent = (share: number): string => `${share >= 0 ? '+' : '−'}${Math.abs(share * 100).toFixed(0)}%`

/** Three significant digits, and all digits of a large number. */
export function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return Number(value.toPrecision(3)).toString()
}

/** Empty without rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
