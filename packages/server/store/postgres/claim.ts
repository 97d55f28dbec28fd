/**
 * One process writes to a database, or several share it, each in its role, with an elected writer for every chain. The
 * claim is an advisory lock held by a connection of its own, so it ends with the process however that dies.
 *
 * Each claim has a number, the generation, in the head row. A commit takes its sequences only from a head row of its
 * own generation, so a process that lost its claim without noticing can no longer commit. Processes that share a
 * database share one generation; the chain's lease (`leases.ts`) keeps two of them from writing one chain.
 *
 * A server promoted from a replica may lack commits that the old one had acknowledged. Its timeline shows that; the
 * next process that claims it begins a new epoch, so no sequence is ever handed out twice.
 */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { auditOf, type Loss, type OnLoss } from '../loss.ts'
import { type ProcessIdentity, thisProcess } from '../processIdentity.ts'
import { StoreError } from '../storeError.ts'
import type { Claimed } from './claimed.ts'
import { clientOptions, Connection, type Query, refuseUnfit, statement } from './connection.ts'
import { readBounds, TIMELINE } from './log.ts'
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

const TRY_LOCK = {
  alone: `SELECT pg_try_advisory_lock(${CLAIM_LOCK}) AS locked`,
  shared: `SELECT pg_try_advisory_lock_shared(${CLAIM_LOCK}) AS locked`,
}
const OWNER = statement('SELECT generation, owner FROM head')
const LOCK_HEAD = statement(`SELECT generation, owner, timeline, ${TIMELINE} AS now FROM head FOR UPDATE`)
const TAKE = statement('UPDATE head SET generation = generation + 1, owner = $1 RETURNING generation')

const INSERT_AUDIT = statement(
  'INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)',
)

type Kind = keyof typeof TRY_LOCK
type Head = {
  readonly generation: number
  readonly owner: string
  readonly timeline: string
  readonly now: string
}

/** The owner's name while several processes share the database. */
const SHARED = 'shared'

type Owner = ProcessIdentity & { readonly host: string }

/** Identical in every thread of this process, and different in every other process. */
const self = (): Owner => ({ host: hostname(), ...thisProcess() })

/** Claims the database, brings its schema up to date, and returns the function that releases it. */
export async function claimPostgres(
  url: string,
  kind: Kind = 'alone',
  onLoss: OnLoss = () => undefined,
  nowMs: number = Date.now(),
): Promise<() => Promise<void>> {
  const connection = new Connection(url, 1)
  try {
    await refuseUnfit(connection.query)
    await migrate(connection, schema, nowMs)
    const claim = new Claim(url, kind, connection, onLoss)
    await claim.take()
    return () => claim.release()
  } catch (error) {
    await connection.close()
    throw error
  }
}

export async function readClaimed(query: Query): Promise<Claimed> {
  const [head] = await query<{ generation: number; owner: string }>(OWNER)
  const isShared = head?.owner === SHARED
  if (head !== undefined && (isShared || head.owner === JSON.stringify(self())))
    return { generation: head.generation, isShared }
  const owner = ownerIn(head?.owner)
  throw new StoreError(
    'STORE_UNCLAIMED',
    `Process ${process.pid} has not claimed the database${owner === null ? '' : `; process ${owner.pid} on ${owner.host} has`}.`,
  )
}

class Claim {
  readonly #url: string
  readonly #kind: Kind
  readonly #connection: Connection
  readonly #onLoss: OnLoss
  #lock: pg.Client | null = null
  #generation = 0
  #isReleased = false

  constructor(url: string, kind: Kind, connection: Connection, onLoss: OnLoss) {
    this.#url = url
    this.#kind = kind
    this.#connection = connection
    this.#onLoss = onLoss
  }

  async take(): Promise<void> {
    const limit = performance.now() + PATIENCE_MS
    while (!(await this.#tryLock())) {
      if (performance.now() > limit) throw await this.#claimedByAnother()
      await delay(PAUSE_MS)
    }
    this.#tell(
      await this.#connection.write(async query => {
        const { generation, loss } = await this.#takeHead(query)
        this.#generation = generation
        return loss
      }),
    )
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
      const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK[this.#kind])
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

  /** The connection broke. The claim continues unless another process claimed the database meanwhile. */
  async #regain(client: pg.Client): Promise<void> {
    while (!this.#isReleased && this.#lock === client) {
      try {
        if (await this.#tryLock()) await this.#confirm()
      } catch {
        // The server is still down.
      }
      await delay(RECLAIM_MS, undefined, { ref: false })
    }
  }

  async #confirm(): Promise<void> {
    const loss = await this.#connection.write(async query => {
      if (this.#kind === 'alone') {
        const [head] = await query<Head>(LOCK_HEAD)
        // Another process was here: ours can no longer commit, and must not block a third one.
        if (head?.generation !== this.#generation) {
          await this.#lock?.end()
          return null
        }
        if (head.timeline === head.now) return null
      }
      const taken = await this.#takeHead(query)
      this.#generation = taken.generation
      return taken.loss
    })
    this.#tell(loss)
  }

  #tell(loss: Loss | null): void {
    if (loss !== null) this.#onLoss(loss)
  }

  async #claimedByAnother(): Promise<StoreError> {
    const [head] = await this.#connection.query<{ owner: string }>(OWNER)
    const owner = ownerIn(head?.owner)
    const who = owner === null ? 'Another process' : `Process ${owner.pid} on ${owner.host}`
    return new StoreError(
      'STORE_CLAIMED',
      head?.owner === SHARED
        ? 'Processes with --role chain or --role api share this database: stop them first.'
        : `${who} is using this database alone. Stop it first, talk to it through its control socket, or start ` +
            'every process on it with --role chain or --role api.',
    )
  }

  async #takeHead(query: Query): Promise<{ readonly generation: number; readonly loss: Loss | null }> {
    const [head] = await query<Head>(LOCK_HEAD)
    const loss = head?.timeline === head?.now ? null : await beginAfterPromotion(query)
    // A process that joins others uses the generation of the first; after any other owner, or a new epoch, it gets a
    // new one.
    if (this.#kind === 'shared' && head?.owner === SHARED && loss === null)
      return { generation: head.generation, loss }
    const owner = this.#kind === 'shared' ? SHARED : JSON.stringify(self())
    const [taken] = await query<{ generation: number }>(TAKE, [owner])
    return { generation: (taken as { generation: number }).generation, loss }
  }
}

/** How much the promoted server lacks is unknown: commits it never received left no trace on it. */
async function beginAfterPromotion(query: Query): Promise<Loss> {
  const { head } = await readBounds(query)
  await beginEpoch(query)
  const { epoch } = await readBounds(query)
  const loss: Loss = { why: 'PROMOTED', head, mark: null, lost: null, epoch }
  const { atMs, actor, action, subject, detail } = auditOf(loss, Date.now())
  await query(INSERT_AUDIT, [atMs, actor, action, subject, detail])
  return loss
}

function ownerIn(text: string | undefined): Owner | null {
  return text === undefined || text === '' || text === SHARED ? null : (JSON.parse(text) as Owner)
}
