/**
 * `npm run test:upgrade`: this version of the service beside a neighbouring one, as real processes on one PostgreSQL.
 * They are replaced one by one, there and back, while trades, streams and requests continue. Prints a table, and
 * fails when anything is lost, repeated or refused contrary to OPERATIONS. `--from REF` takes another neighbour than
 * the last release.
 */
import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { promisify } from 'node:util'
import { createClient, verify } from '@assay/sdk'
import { CHAIN_ID, planWith, token } from '../packages/server/endToEnd/testing/plan.ts'
import { startTestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { writeConfig } from '../packages/server/endToEnd/testing/testService.ts'
import { openReader } from '../packages/server/store/openStore.ts'
import { startPostgres } from '../packages/server/store/testing/postgresServer.ts'
import { Fleet, type Version } from './upgrade/fleet.ts'
import { Judge } from './upgrade/judge.ts'
import { checkOut, findNeighbour, type Neighbour, oldestSchema, sdkOf } from './upgrade/neighbour.ts'
import { Rehearsal, type Row } from './upgrade/rehearsal.ts'
import { roll } from './upgrade/rolling.ts'
import { commandLine } from './commandLine.ts'

const TRADED = ['MOTH', 'LARK']
/** One for each time that a node enrols one, plus a few spare ones. */
const STRAYS = Array.from({ length: 24 }, (_, at) => token(0x100 + at, `STRAY${at}`, 2))
const POOLS = STRAYS.map(({ symbol }) => ({
  deployment: 'uniswap-v2',
  pair: ['USDC', symbol] as const,
  usd: 400_000,
}))
const ROOMY = {
  units: 10_000_000,
  window_ms: 1000,
  burst: 10_000_000,
  stream_connections: 100,
  enrolments_per_day: STRAYS.length,
}
/** The most faults shown per stage; the rest is repetition. */
const SHOWN = 8
const run = promisify(execFile)

const USAGE = `npm run test:upgrade -- [--from REF]
  --from  another neighbour than the last release`
const { values } = commandLine(USAGE, { options: { from: { type: 'string' } } })
const neighbour = chosen()
console.log(`Old: ${neighbour.about}, schema ${neighbour.schemaVersion}. New: this checkout.`)
const startMs = performance.now()
const rows: Row[] = []
const faults: string[] = []
const ends: (() => unknown)[] = []
const endAll = async () => {
  for (const end of ends.splice(0).reverse()) await end()
}
/** Set once a stop was requested: failures of running work are then expected. */
const stop: { asked: Promise<void> | null } = { asked: null }
// Ends everything that was started; a second request ends at once. Not `once`: Node ends the process when no other
// listener exists.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stop.asked !== null) process.exit(130)
    stop.asked = endAll().finally(() => process.exit(130))
  })
try {
  await rehearse()
} catch (failure) {
  await stop.asked
  throw failure
} finally {
  await endAll()
}
printTable()
process.exitCode = faults.length === 0 ? 0 : 1

/** Checks that need no process. */
function chosen(): Neighbour {
  try {
    const found = findNeighbour(values.from)
    if (found.schemaVersion >= oldestSchema()) return found
    throw new Error(
      `${found.about} is no neighbour: it knows schema ${found.schemaVersion}, and a database of this version takes programs from ${oldestSchema()} on. Stop the old one first`,
    )
  } catch (failure) {
    console.error((failure as Error).message)
    process.exit(2)
  }
}

async function rehearse(): Promise<void> {
  const tree = checkOut(neighbour)
  process.on('exit', () => tree.remove())
  console.log(`The old one runs on ${tree.installed}.`)
  const plan = planWith({ tokens: STRAYS, pools: POOLS })
  const [chain, server] = await Promise.all([startTestChain(plan), startPostgres()])
  ends.push(
    () => chain.close(),
    () => server.dispose(),
  )
  const store = await server.createDatabase()
  const configFile = writeConfig(chain, { name: 'upgrade', store, tokens: TRADED })
  const fleet = new Fleet(configFile, store, { old: tree.folder, new: process.cwd() })
  ends.push(() => fleet.close())
  const assay = async (version: Version, ...args: readonly string[]): Promise<string> => {
    const command = [fleet.commandOf(version), ...args, '--config', configFile, '--json']
    return (await run(process.execPath, command)).stdout
  }

  // The old version alone: schema, keys and the first records are its own.
  const writer = await fleet.start('old', 'chain')
  const nodes = [await fleet.start('old', 'api'), await fleet.start('old', 'api')] as const
  const issued = await assay('old', 'keys', 'issue', '--name', 'customer', '--scopes', 'read,stream,admin')
  const { key } = JSON.parse(issued) as { key: string }
  const client = createClient({ baseUrl: nodes[0].child.url, apiKey: key })
  await client.admin.setLimits('customer', ROOMY)
  await chain.untilMining('a price', async () => {
    const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('MOTH') })
    return quote.state === 'PRICED'
  })

  const oldSdk = await sdkOf(tree.folder)
  const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  const judge = new Judge(() => openReader(store))
  const rehearsal = await Rehearsal.open({
    fleet,
    chain,
    judge,
    key,
    pool,
    tokens: TRADED.map(symbol => chain.token(symbol)),
    clients: { 'the old SDK': oldSdk.createClient, 'the new SDK': createClient },
  })
  ends.push(() => judge.close())
  let asked = 0
  const asker = {
    fleet,
    key,
    pool,
    token: chain.token('MOTH'),
    verifiers: [oldSdk.verify, verify],
    nextStray: () => chain.token(`STRAY${asked++}`),
  }
  console.log(`Both are ready after ${seconds()} s.`)
  try {
    await roll({ fleet, rehearsal, asker, writer, nodes, onRow })
  } finally {
    await rehearsal.close()
  }
  const { streams, requests } = rehearsal.moves
  console.log(
    `Streams were opened ${streams} times, and ${requests} requests sent on by a node that was leaving.`,
  )
  for (const version of ['old', 'new'] as const) {
    const report = JSON.parse(await assay(version, 'db', 'check')) as { records: number; faults: string[] }
    console.log(
      `db check of the ${version} version: ${report.records} records, ${report.faults.length} faults`,
    )
    faults.push(...report.faults.map(fault => `db check of the ${version} version: ${fault}`))
  }
}

function onRow(row: Row): void {
  if (stop.asked !== null) return
  rows.push(row)
  faults.push(...row.faults.map(fault => `${row.stage}: ${fault}`))
  console.log(`${row.stage}: ${row.faults.length === 0 ? 'passed' : 'FAILED'} in ${row.seconds.toFixed(1)} s`)
  for (const fault of row.faults.slice(0, SHOWN)) console.log(`  ${fault}`)
  if (row.faults.length > SHOWN) console.log(`  and ${row.faults.length - SHOWN} more`)
}

function printTable(): void {
  console.log('\n| stage | time | records | lost | repeated | answers | failed | without a writer | result |')
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const row of rows) {
    const { stage, records, lost, repeated, answered, failed, refused, changeSeconds } = row
    const change = changeSeconds === null ? '–' : `${changeSeconds.toFixed(1)} s, ${refused} refused`
    const result = row.faults.length === 0 ? 'passed' : 'FAILED'
    const cells = [
      stage,
      `${row.seconds.toFixed(0)} s`,
      records,
      lost,
      repeated,
      answered,
      failed,
      change,
      result,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
  const load = loadavg()[0]?.toFixed(1)
  console.log(`\n${faults.length} faults in ${seconds()} s; load of the machine ${load}.`)
}

function seconds(): string {
  return ((performance.now() - startMs) / 1000).toFixed(0)
}
