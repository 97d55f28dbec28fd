/**
 * `npm run bench:writes -- REF [sqlite|postgres]`: what a swap costs from engine to disk, in this folder and in a commit
 * or another folder.
 *
 * Each side runs in a separate process with a database of its own, and they take turns of a few blocks. Printed are the
 * medians, over all turns, of both sides' processor time and of its ratio: above 1 this folder needs less. Then the
 * growth of both databases over all turns.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../packages/server/store/testing/postgresServer.ts'
import { postmasterOf } from '../trials/load/ground.ts'
import { ticksOf } from '../trials/load/usage.ts'
import { quantile } from './harness.ts'
import { answer, HERE, otherTree } from './otherTree.ts'
import type { Turn } from './writesSide.ts'

const TURNS = 20
const TICK_MICROS = 10_000

type Database = { readonly address: string; readonly servers: readonly number[]; remove(): Promise<void> }
type Side = { readonly root: string; readonly child: ChildProcess; readonly database: Database }
/** Microseconds of processor time a swap. */
type Cost = { readonly writer: number; readonly server: number }

const [ref, store = 'sqlite'] = process.argv.slice(2)
if (ref === undefined || (store !== 'sqlite' && store !== 'postgres')) {
  console.error('Which commit or folder? For example: npm run bench:writes -- HEAD~1 sqlite')
  process.exit(2)
}
await compare(ref, store === 'sqlite' ? sqliteFile : postgresServer)

async function compare(other: string, makeDatabase: () => Promise<Database>): Promise<void> {
  const tree = otherTree(other)
  const sides: Side[] = []
  try {
    for (const root of [HERE, tree.root]) {
      const database = await makeDatabase()
      const child = fork(join(import.meta.dirname, 'writesSide.ts'), [root, database.address])
      sides.push({ root, child, database })
      // One after the other: a bring-up takes a whole core.
      await answer(child)
    }
    await takeTurns(other, sides)
  } finally {
    for (const { child } of sides) child.kill()
    for (const { database } of sides) await database.remove()
    tree.remove()
  }
}

async function takeTurns(other: string, sides: readonly Side[]): Promise<void> {
  const costs = sides.map((): Cost[] => [])
  const grown: string[] = []
  for (let turn = 0; turn < TURNS; turn++)
    // Alternate the order, so that neither side always inherits the other's caches.
    for (const at of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const { child, database } = sides[at] as Side
      const before = ticksOf({ name: 'database', pids: database.servers })
      child.send('go')
      const { swaps, records, cpuMicros, bytes, bytesBefore } = await answer<Turn>(child)
      const ticks = ticksOf({ name: 'database', pids: database.servers }) - before
      costs[at]?.push({ writer: cpuMicros / swaps, server: (ticks * TICK_MICROS) / swaps })
      grown[at] = ((bytes - bytesBefore) / records).toFixed(0)
    }
  const [ours, theirs] = costs as [Cost[], Cost[]]
  const total = ({ writer, server }: Cost) => writer + server
  const ratios = ours.map((cost, turn) => total(theirs[turn] as Cost) / total(cost))
  for (const part of ['writer', 'server'] as const) {
    const typical = (side: readonly Cost[]) =>
      quantile(
        side.map(each => each[part]),
        0.5,
      ).toFixed(0)
    console.log(`${part}, µs of processor time a swap: ${typical(theirs)} → ${typical(ours)}`)
  }
  console.log(`the database grew, bytes a record: ${grown[1]} → ${grown[0]}`)
  const at = (share: number) => quantile(ratios, share).toFixed(2)
  console.log(
    `swaps of a second of processor time, this folder over ${other}: ${at(0.5)} (middle half ${at(0.25)} to ${at(0.75)})`,
  )
}

async function sqliteFile(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-writes-'))
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  return { address: `sqlite:${join(folder, 'assay.db')}`, servers: [], remove }
}

async function postgresServer(): Promise<Database> {
  const server = await startPostgres()
  const remove = () => server.dispose()
  return { address: await server.createDatabase(), servers: [postmasterOf(server.data)], remove }
}
