/** The capacity of one core, one node and one database: each value with its formula, filled in with numbers. */
import { casesOf, costsOf, bytesPerSocket, mibIn, pricesPerSwap, type Report } from './report.ts'
import type { Form } from './ground.ts'
import { logBytesPerSwap, type MarketRun, readBackMicros } from './market.ts'
import type { Costs } from './model.ts'
import { API_NODES, FULL, PLACES, REFERENCE } from './reference.ts'
import { figure, table } from './tables.ts'

type Row = readonly [what: string, formula: string, figure: string]

const DAY_S = 86_400

export function carriesPart(report: Report): string {
  const rows = [...oneRows(report), ...threeRows(report), ...report.markets.flatMap(marketRows)]
  return table(['what', 'formula', 'carries'], rows)
}

function oneRows(report: Report): readonly Row[] {
  const costs = costsIn(report, 'one')
  const [api, chains] = [costs.get('API'), costs.get('chains')]
  const cases = casesOf(report, 'one')
  const [rest] = cases
  if (api === undefined || chains === undefined || rest === undefined) return []
  const perSwap = pricesPerSwap(cases)
  return [
    writing('a core of chain threads, SQLite', chains, perSwap),
    quoting('one process, quotes alone', api, 1),
    subscribed('one process, unfiltered sockets', api, 1, perSwap),
    [
      'memory of one process',
      `${figure(mibIn(rest, 'API'))} MiB at rest with the local world, ${figure(bytesPerSocket(cases) / 1024)} KiB a socket`,
      `${figure(mibIn(rest, 'API') + (bytesPerSocket(cases) * PLACES) / 2 ** 20)} MiB with ${figure(PLACES)} sockets`,
    ],
  ]
}

function threeRows(report: Report): readonly Row[] {
  const costs = costsIn(report, 'three')
  const [api, chains, database] = [costs.get('API'), costs.get('chains'), costs.get('database')]
  if (api === undefined || chains === undefined || database === undefined) return []
  const perSwap = pricesPerSwap(casesOf(report, 'three'))
  return [
    writing('a core of chain threads, PostgreSQL', chains, perSwap),
    writing('a core of the database, local market', database, perSwap),
    quoting('an API node, quotes alone', api, API_NODES),
    subscribed('an API node, unfiltered sockets', api, API_NODES, perSwap),
  ]
}

function marketRows(run: MarketRun): readonly Row[] {
  const { store, written, writing: used } = run
  const micros = [written.engineSeconds, written.textSeconds, written.storeSeconds].map(
    seconds => (seconds * 1e6) / written.swaps,
  )
  const databaseCores = used.find(({ role }) => role === 'database')?.cores
  const readMicros = readBackMicros(run)
  const kib = logBytesPerSwap(run) / 1024
  const records = (REFERENCE.swaps * written.records) / written.swaps
  return [
    [
      `one chain, synthetic market, ${store}`,
      `10⁶ / (${micros.map(figure).join(' + ')}) µs of engine, text and transaction`,
      `${figure(written.swaps / written.seconds)} swaps/s`,
    ],
    ...(databaseCores === undefined
      ? []
      : [
          [
            'a core of the database, synthetic market',
            `${figure(written.swaps / written.seconds)} swaps/s / ${figure(databaseCores)} cores`,
            `${figure(written.swaps / written.seconds / databaseCores)} swaps/s`,
          ] as const,
        ]),
    ...(readMicros === undefined
      ? []
      : [
          [
            `API nodes that a core of the database feeds at ${REFERENCE.swaps} swaps/s`,
            `10⁶ / (${figure(records)} records/s × ${figure(readMicros)} µs)`,
            `${figure(1e6 / (records * readMicros))} nodes`,
          ] as const,
        ]),
    [
      `log of a day at ${REFERENCE.swaps} swaps/s, ${store}`,
      `${REFERENCE.swaps} × ${figure(kib)} KiB × ${figure(DAY_S)} s`,
      `${figure((REFERENCE.swaps * kib * DAY_S) / 2 ** 20)} GiB`,
    ],
  ]
}

function writing(what: string, { swap, price, atRest }: Costs, perSwap: number): Row {
  const result = ((1 - atRest) * 1e6) / (swap + perSwap * price)
  return [
    what,
    `(1 − ${figure(atRest)}) × 10⁶ / (${figure(swap)} + ${figure(perSwap)} × ${figure(price)}) µs`,
    `${figure(result)} swaps/s`,
  ]
}

function quoting(what: string, { quote, atRest }: Costs, nodes: number): Row {
  const each = atRest / nodes
  return [
    what,
    `(${FULL} − ${figure(each)}) × 10⁶ / ${figure(quote)} µs`,
    `${figure(((FULL - each) * 1e6) / quote)} quotes/s`,
  ]
}

/** Each node follows the whole log, whatever its subscribers. */
function subscribed(
  what: string,
  { atRest, swap, price, delivery }: Costs,
  nodes: number,
  perSwap: number,
): Row {
  const records = REFERENCE.swaps * (1 + perSwap)
  const following = (atRest + (REFERENCE.swaps * (swap + perSwap * price)) / 1e6) / nodes
  const result = ((FULL - following) * 1e6) / (records * delivery)
  return [
    `${what}, ${REFERENCE.swaps} swaps/s`,
    `(${FULL} − ${figure(following)}) × 10⁶ / (${figure(records)} records/s × ${figure(delivery)} µs)`,
    result > PLACES
      ? `${figure(result)}, of which ${figure(PLACES)} are admitted`
      : `${figure(result)} sockets`,
  ]
}

const costsIn = (report: Report, form: Form): ReadonlyMap<string, Costs> =>
  new Map(costsOf(report, form).map(({ role, costs }) => [role, costs]))
