/**
 * One process writes to a database.
 *
 * The claim is an advisory lock held by a connection of its own, so it ends with the process however that dies.
 * Each claim has a number, the generation, in the head row. A commit takes its sequences only from a head row
 * of its own generation: a process that lost its claim without noticing can no longer commit.
 *
 * A server that was promoted from a replica may lack commits the old one had acknowledged. Its timeline tells;
 * whoever claims it then begins a new epoch, so no sequence is ever given out twice.
 */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type ProcessIdentity, thisProcess } from '../processIdentity.ts'
import { StoreError } from '../storeError.ts'
import { clientOptions, Connection, type Query, refuseUnfit, statement } from './connection.ts'
import { TIMELINE } from './log.ts'
import { beginEpoch } from './maintenanceStore.ts'
import { migrate } from './migrate.ts'
import { toStoreError } from './postgresError.ts'
import { schema } from './schema.ts'

/** "Assy" and 2. */
const CLAIM_LOCK = '281103041233922'

/** The server needs a moment to notice that a killed process is gone. */
const PATIENCE_MS = 3_000
const PAUSE_MS = 20
const RECLAIM_MS = 500

const TRY_LOCK = `SELECT pg_try_advisory_lock(${CLAIM_LOCK}) AS locked`
const OWNER = statement('SELECT generation, owner FROM head')
const LOCK_HEAD = statement(`SELECT generation, timeline, ${TIMELINE} AS now FROM head FOR UPDATE`)
const TAKE = statement('UPDATE head SET generation = generation + 1, owner = $1 RETURNING generation')

type Owner = ProcessIdentity & { readonly host: string }

/** The same in every thread of this process, and in no other process. */
const self = (): Owner => ({ host: hostname(), ...thisProcess() })

/** Claims the database, brings its schema up to date, and returns the function that gives it back. */
export async function claimPostgres(url: string, nowMs: number = Date.now()): Promise<() => Promise<void>> {
  const connection = new Connection(url, 1)
  try {
    await refuseUnfit(connection.query)
    await migrate(connection, schema, nowMs)
    const claim = new Claim(url, connection)
    await claim.take()
    return () => claim.release()
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** The generation this process may commit with. */
export async function claimedGeneration(query: Query): Promise<number> {
  const [head] = await query<{ generation: number; owner: string }>(OWNER)
  if (head !== undefined && head.owner === JSON.stringify(self())) return head.generation
  const owner = ownerIn(head?.owner)
  throw new StoreError(
    'STORE_UNCLAIMED',
    `Process ${process.pid} has not claimed the database${owner === null ? '' : `; process ${owner.pid} on ${owner.host} has`}.`,
  )
}

class Claim {
  readonly #url: string
  readonly #connection: Connection
  #lock: pg.Client | null = null
  #generation = 0
  #isReleased = false

  constructor(url: string, connection: Connection) {
    this.#url = url
    this.#connection = connection
  }

  async take(): Promise<void> {
    const limit = performance.now() + PATIENCE_MS
    while (!(await this.#tryLock())) {
      if (performance.now() > limit) throw await this.#claimedByAnother()
      await delay(PAUSE_MS)
    }
    this.#generation = await this.#connection.write(takeHead)
  }

  async release(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    await this.#lock?.end().catch(() => undefined)
    await this.#connection.close()
  }

  async #tryLock(): Promise<boolean> {
    const client = new pg.Client(clientOptions(this.#url))
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK)
      if (rows[0]?.locked !== true) {
        await client.end()
        return false
      }
    } catch (error) {
      await client.end().catch(() => undefined)
      throw toStoreError(error)
    }
    this.#lock = client
    client.once('end', () => void this.#regain(client))
    return true
  }

  /** The connection broke. Unless another process claimed the database meanwhile, the claim goes on. */
  async #regain(client: pg.Client): Promise<void> {
    while (!this.#isReleased && this.#lock === client) {
      try {
        if (await this.#tryLock()) await this.#confirm()
      } catch {
        // The server is still away.
      }
      await delay(RECLAIM_MS, undefined, { ref: false })
    }
  }

  async #confirm(): Promise<void> {
    await this.#connection.write(async query => {
      const [head] = await query<{ generation: number; timeline: string; now: string }>(LOCK_HEAD)
      // Another process was here: ours can commit no more, and must not stand in the way of a third.
      if (head?.generation !== this.#generation) return this.#lock?.end()
      if (head.timeline !== head.now) this.#generation = await takeHead(query)
      return undefined
    })
  }

  async #claimedByAnother(): Promise<StoreError> {
    const [head] = await this.#connection.query<{ owner: string }>(OWNER)
    const owner = ownerIn(head?.owner)
    const who = owner === null ? 'Another process' : `Process ${owner.pid} on ${owner.host}`
    return new StoreError(
      'STORE_CLAIMED',
      `${who} is using this database. A database serves one process: stop that one first, or talk to it ` +
        'through its control socket.',
    )
  }
}

async function takeHead(query: Query): Promise<number> {
  const [head] = await query<{ timeline: string; now: string }>(LOCK_HEAD)
  if (head?.timeline !== head?.now) await beginEpoch(query)
  const [taken] = await query<{ generation: number }>(TAKE, [JSON.stringify(self())])
  return (taken as { generation: number }).generation
}

function ownerIn(text: string | undefined): Owner | null {
  return text === undefined || text === '' ? null : (JSON.parse(text) as Owner)
}
