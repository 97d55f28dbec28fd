/** The load in its smallest form, on a real service over a real chain: what it counts is what happened, and nothing is lost. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalWorld, startWorld } from '@assay/world'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { planWith } from '../../packages/server/endToEnd/testing/plan.ts'
import { type Case, type Outcome, type Plan, runCases } from './cases.ts'
import { type Ground, openGround, tradingOf } from './ground.ts'
import { Part } from './part.ts'
import { coresIn, costsOf, mibIn, type Report } from './report.ts'
import { checkPart, measuredPart, modelPart } from './tables.ts'

const BLOCK_MS = 200
const PLAN: Plan = {
  swapSteps: [50],
  quoteSteps: [2],
  pacedQuotes: 20,
  socketSteps: [5],
  background: 10,
  mixed: { perNode: 5, swaps: 20, quotesPerSecond: 40 },
  stepSeconds: 0.6,
  warmUpSeconds: 0.1,
  settleMs: 250,
}

const folder = mkdtempSync(join(tmpdir(), 'assay-load-'))
let world: LocalWorld
let trades: Part
let ground: Ground
let outcome: Outcome
const cases: Case[] = []
beforeAll(async () => {
  world = await startWorld({ folder, plans: [planWith()], isLive: false })
  trades = new Part('trades.ts')
  await trades.call('start', tradingOf(world, BLOCK_MS))
  ground = await openGround('one', world)
  outcome = await runCases(ground, world, trades, PLAN, each => cases.push(each))
})
afterAll(async () => {
  await ground?.close()
  await trades?.close()
  await world?.close()
  rmSync(folder, { recursive: true, force: true })
})

const found = (name: Case['name']): Case => cases.find(each => each.name === name) as Case

it('runs every case, and nothing is lost', () => {
  expect(outcome.faults).toEqual([])
  expect(cases.map(({ name }) => name)).toEqual(['rest', 'swaps', 'quotes', 'quotes', 'sockets', 'mixed'])
})

it('counts what arrived: swaps at their rate, quotes, sockets with the witness among them', () => {
  expect(found('swaps').swapsPerSecond).toBeGreaterThan(found('rest').swapsPerSecond)
  expect(found('swaps').latency?.p99Ms).toBeGreaterThan(0)
  expect(found('quotes').quotesPerSecond).toBeGreaterThan(0)
  expect(found('mixed').quotesPerSecond).toBeLessThanOrEqual(45)
  expect(found('sockets').sockets).toBe(6)
  expect(found('sockets').deliveriesPerSecond).toBeGreaterThan(3 * found('sockets').recordsPerSecond)
})

it('shows the usage of each role', () => {
  expect(found('quotes').used.map(({ role }) => role)).toEqual([
    'API',
    'chains',
    'runtime',
    'chain nodes',
    'load',
    'witness',
    'elsewhere',
    'disk wait',
  ])
  expect(coresIn(found('quotes'), 'API')).toBeGreaterThan(coresIn(found('rest'), 'API'))
  expect(mibIn(found('rest'), 'API')).toBeGreaterThan(50)
})

it('makes its tables from it', () => {
  const machine = { cores: 2, memoryGib: 1, node: process.versions.node, loadAverage: [0, 0] as const }
  const report: Report = { machine, cases, markets: [], faults: [] }
  expect(costsOf(report, 'one').find(({ role }) => role === 'API')?.costs.quote).toBeGreaterThan(0)
  const rows = measuredPart(report).split('\n')
  for (const { name } of cases) expect(rows.filter(row => row.startsWith(`| ${name} |`))).not.toEqual([])
  expect(modelPart(report)).toContain('| one | chains |')
  expect(checkPart(report)).toContain('| one | mixed case, API |')
})
