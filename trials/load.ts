/**
 * `npm run load`: the service under load on one machine, in one process and as three over PostgreSQL, on five local
 * chains; then the engine and its commit without a chain. Prints tables, stores them in `bench/load.json`, and fails
 * when something broke, not when a value is low. `--help` lists its options.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, setPriority, tmpdir, totalmem, availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type LocalWorld, startWorld } from '@assay/world'
import { withParts } from '../scripts/docsParts.ts'
import { carriesPart } from './load/carries.ts'
import { type Case, lineOf, type Plan, runCases } from './load/cases.ts'
import { type Form, openGround, tradingOf } from './load/ground.ts'
import { growthPart } from './load/growth.ts'
import { type MarketRun, runMarket } from './load/market.ts'
import { Part } from './load/part.ts'
import type { Report } from './load/report.ts'
import { checkPart, measuredPart, modelPart } from './load/tables.ts'
import { commandLine, misused } from './commandLine.ts'

const PAGE = 'docs/CAPACITY.md'
const RESULTS = 'bench/load.json'
const MADE_BY = 'npm run load -- --write'
const FORMS = ['one', 'three', 'market'] as const
/** The niceness of the chains' nodes, which represent other machines. */
const NICE = 10
/** Blocks whose logs a node keeps: it writes all of them to disk every ten seconds, and many would need a core. */
const KEPT_BLOCKS = 120
/** The block time of every chain; windows of whole seconds have equally many blocks of each. */
const BLOCK_MS = 1000
const MARKET = { pools: 4000, tokens: 2000, swapsPerBlock: 200 }
/** Seconds of the market run per minute of load. */
const MARKET_S = 10
const STEPS: Omit<Plan, 'stepSeconds'> = {
  swapSteps: [100, 200, 400, 800, 1600, 3200, 6400],
  quoteSteps: [1, 4, 16, 64],
  pacedQuotes: 500,
  // A node has 2,000 places, and the witness and quotes need some.
  socketSteps: [100, 500, 1000, 1900],
  background: 50,
  mixed: { perNode: 100, swaps: 100, quotesPerSecond: 1000 },
  warmUpSeconds: 10,
  settleMs: 1500,
}
/** The additional three: at rest, quotes at a pace, and mixed. */
const WINDOWS = STEPS.swapSteps.length + STEPS.quoteSteps.length + STEPS.socketSteps.length + 3

const USAGE = `npm run load -- [--form one|three|market]… [--seconds N] [--write] [--kept]
  --form     only that; several may be named
  --seconds  of load in each form, about
  --write    writes the tables of ${PAGE}
  --kept     measures nothing: the tables of what was measured last`

const { values } = commandLine(USAGE, {
  options: {
    form: { type: 'string', multiple: true, default: [...FORMS] },
    seconds: { type: 'string', default: '60' },
    write: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const unknown = values.form.filter(form => !FORMS.some(each => each === form))
const fault = !(seconds > 0)
  ? `--seconds is ${values.seconds}; expected a number above 0`
  : unknown.length > 0
    ? `No form ${unknown.join(', ')}. There are: ${FORMS.join(', ')}`
    : values.write && FORMS.some(form => !values.form.includes(form))
      ? '--write needs all forms: the page has tables of each'
      : null
if (fault !== null) misused(USAGE, fault)

const say = (line: string): void => console.log(line)
const cases: Case[] = []
const markets: MarketRun[] = []
const faults: string[] = []
const report = values.kept ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Report) : await measured()
const parts = {
  measured: measuredPart(report),
  model: modelPart(report),
  check: checkPart(report),
  carries: carriesPart(report),
  growth: growthPart(report),
}
for (const [name, part] of Object.entries(parts)) if (part !== '') say(`\n${name}\n\n${part}`)
if (values.write) {
  const apart = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, `${part}\n`]))
  writeFileSync(PAGE, withParts(readFileSync(PAGE, 'utf8'), apart, MADE_BY))
}
say('')
for (const fault of report.faults) say(`broke: ${fault}`)
say(
  report.faults.length === 0 ? 'Nothing was lost and nothing broke.' : `What broke: ${report.faults.length}.`,
)
process.exitCode = report.faults.length === 0 ? 0 : 1

async function measured(): Promise<Report> {
  const before = loadavg()[0] ?? 0
  const forms = (['one', 'three'] as const).filter(form => values.form.includes(form))
  if (forms.length > 0) await onChains(forms)
  if (values.form.includes('market')) await withoutChain()
  const machine = {
    cores: availableParallelism(),
    memoryGib: totalmem() / 2 ** 30,
    node: process.versions.node,
    loadAverage: [before, loadavg()[0] ?? 0] as const,
  }
  const report = { machine, cases, markets, faults }
  writeFileSync(RESULTS, JSON.stringify(report, null, 1))
  return report
}

async function withoutChain(): Promise<void> {
  for (const store of ['SQLite', 'PostgreSQL'] as const) {
    say(`without a chain, ${store}: ${MARKET.pools} pools`)
    markets.push(await runMarket(store, MARKET, (seconds / 60) * MARKET_S))
  }
}

async function onChains(chosen: readonly Form[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-load-world-'))
  say('bringing up six chains')
  const world = await startWorld({ folder, isLive: false, keptBlocks: KEPT_BLOCKS })
  for (const chain of world.chains) setPriority(chain.pid(), NICE)
  const trades = new Part('trades.ts')
  try {
    await trades.call('start', tradingOf(world, BLOCK_MS))
    for (const form of chosen) await runForm(form, world, trades)
    await trades.call('stop')
  } finally {
    await trades.close()
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A form that cannot finish is broken; its earlier results are kept. */
async function runForm(form: Form, world: LocalWorld, trades: Part): Promise<void> {
  say(`form ${form}: bringing up the service`)
  const found = (each: Case): void => {
    cases.push(each)
    say(lineOf(each))
  }
  await trades.call('setPace', 0)
  const ground = await openGround(form, world)
  try {
    const stepSeconds = Math.max(1, Math.round(seconds / WINDOWS))
    const { faults: broken, notes } = await runCases(ground, world, trades, { ...STEPS, stepSeconds }, found)
    for (const note of notes) say(note)
    faults.push(...[...broken, ...(await ground.stop())].map(fault => `form ${form}: ${fault}`))
  } catch (failure) {
    faults.push(`form ${form}: ${String(failure).split('\n', 1)[0]}`)
  } finally {
    await ground.close()
  }
}
