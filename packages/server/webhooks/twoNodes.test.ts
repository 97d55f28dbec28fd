/**
 * Several nodes over one PostgreSQL, any of which may deliver: exactly one does. Killed with SIGKILL while it does,
 * another continues: nothing is lost, the order is kept, and duplicates have the same id and bytes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { WebhookCondition } from '@assay/sdk/wire'
import { until } from '../endToEnd/testing/until.ts'
import { openStore, shareStore } from '../store/openStore.ts'
import { postgresDatabase, type TestDatabase } from '../store/testing/connect.ts'
import { key } from '../store/testing/drafts.ts'
import { type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { wholeLog } from '../store/testing/wholeLog.ts'
import { messageId } from './message.ts'
import { makeSecret } from './signature.ts'
import { Receiver } from './testing/receiver.ts'
import { CHAIN, marketCommit } from './testing/script.ts'

const PROCESS = fileURLToPath(new URL('./testing/sharedSender.ts', import.meta.url))
const STEPS = 400
const KILLS = 3
/** Slow enough that a kill meets a delivery. */
const ANSWER_MS = 20

type Node = { readonly child: ChildProcess; attempts: number; turns: number; isReady: boolean }

let server: PostgresServer
let database: TestDatabase
let receiver: Receiver
const nodes: Node[] = []
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())
beforeEach(async () => {
  database = await postgresDatabase(server)
  receiver = await Receiver.open()
})
afterEach(async () => {
  for (const { child } of nodes.splice(0)) child.kill('SIGKILL')
  await receiver.close()
  await database.dispose()
})

async function begin(owner: string): Promise<Node> {
  const child = spawn(process.execPath, [PROCESS, database.address, owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const node: Node = { child, attempts: 0, turns: 0, isReady: false }
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
    if (line === 'attempt') node.attempts += 1
    if (line === 'turn') node.turns += 1
    if (line === 'ready') node.isReady = true
  })
  nodes.push(node)
  await until(`${owner} ready`, () => node.isReady)
  return node
}

/** As a user does, while the nodes have the database. */
async function activate(): Promise<void> {
  const release = await shareStore(database.address)
  const store = await openStore(database.address)
  await store.setWebhookState('w', 'ACTIVE', null)
  await store.close()
  await release()
}

test('one delivers at a time; killed, another resumes where it was', { timeout: 300_000 }, async () => {
  const condition: WebhookCondition = { kind: 'retracted', chain_id: CHAIN }
  const secret = makeSecret()
  receiver.secret = secret.reveal()
  receiver.manner = () => answer => void setTimeout(() => answer.writeHead(204).end(), ANSWER_MS)
  const store = await database.connect()
  await store.insertKey({ ...key('acme'), scopes: ['stream'] })
  await store.insertWebhook(
    {
      webhookId: 'w',
      consumer: 'acme',
      name: 'retracted',
      url: receiver.url,
      condition: JSON.stringify(condition),
      secret,
      createdAtMs: 1,
      position: 0,
      memory: null,
    },
    10,
  )
  await store.setWebhookState('w', 'PAUSED', null)
  for (let step = 1; step <= STEPS; step++) await store.commit(marketCommit(step))
  const due = (await wholeLog(store))
    .filter(({ type }) => type === 'PRICE_RETRACT')
    .map(({ sequence }) => messageId('w', sequence))
  expect(due.length).toBeGreaterThan(KILLS * 20)
  await database.leave()

  for (let node = 0; node <= KILLS; node++) await begin(`node ${node}`)
  const holders = () =>
    nodes.filter(({ child, turns }) => child.exitCode === null && !child.killed && turns > 0)
  await until('a node with the turn', () => holders().length > 0)
  await activate()
  for (let kill = 0; kill <= KILLS; kill++) {
    const before = receiver.received.length
    await until('more deliveries', () => receiver.received.length >= before + 8)
    const [active, ...others] = holders()
    expect(others).toEqual([])
    const idle = nodes.filter(node => node !== active && !node.child.killed)
    expect(idle.map(({ attempts }) => attempts)).toEqual(idle.map(() => 0))
    if (kill === KILLS || active === undefined) break
    active.child.kill('SIGKILL')
    await once(active.child, 'exit')
    // Stopped in the middle of the log, and not at its end.
    expect(receiver.ids.length).toBeLessThan(due.length)
  }
  await until('everything that was due', () => receiver.ids.length === due.length)
  expect(receiver.ids).toEqual(due)
  expect(receiver.forged).toEqual([])
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of receiver.received) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
  expect([...bodies.values()].filter(each => each.size > 1)).toEqual([])
  // A kill repeats at most the message that was under way.
  expect(receiver.received.length).toBeLessThanOrEqual(due.length + KILLS)
})
