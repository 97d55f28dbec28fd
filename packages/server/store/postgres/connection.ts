/**
 * Connections to one PostgreSQL database, for one thread. A write is durable when it resolves: `synchronous_commit` is
 * set here whatever the server's default.
 *
 * A lock or a statement that takes too long fails with an error of its own instead of holding a chain. The server ends
 * a client that hangs inside a transaction, because others wait for the head row it may hold, and the successor of a
 * stopped writer waits for its chain.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { StoreError } from '../storeError.ts'
import { arraysOf, encoded } from './arrays.ts'
import { toStoreError } from './postgresError.ts'

/** All our tables are in this schema, so the database may be shared with other programs. */
export const SCHEMA = 'assay'

const SETTINGS = {
  search_path: SCHEMA,
  synchronous_commit: 'on',
  lock_timeout: '10s',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '4s',
}

/** A little more than the server's own limits: this one detects a server that is gone. */
const ANSWER_MS = 40_000
const CONNECT_MS = 5_000

/** 14 is the oldest release that still gets fixes. */
const OLDEST_SERVER = 140_000

export type Statement = {
  readonly name: string
  readonly text: string
  /** The parameters that are arrays. */
  readonly arrays: ReturnType<typeof arraysOf>
}
export type Query = <Row extends object>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>

/** The server plans a statement once per connection; equal text is the same statement. */
export const statement = (text: string): Statement => ({
  name: createHash('sha256').update(text).digest('hex').slice(0, 32),
  text,
  arrays: arraysOf(text),
})

const asked = ({ name, text, arrays }: Statement, values: readonly unknown[]): pg.QueryConfig => ({
  name,
  text,
  values: encoded(values, arrays),
})

/** 64-bit integers become numbers; all of ours are below 2^53, and a larger one must not be rounded. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? integer : pg.types.getTypeParser(oid, format),
}

export function clientOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'assay',
    options: Object.entries(SETTINGS)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    types,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
  }
}

export class Connection {
  readonly #pool: pg.Pool
  #isClosed = false

  constructor(url: string, most: number) {
    this.#pool = new pg.Pool({ ...clientOptions(url), max: most, idleTimeoutMillis: 60_000 })
    // An idle connection that breaks is replaced when needed; the next caller then gets the error.
    this.#pool.on('error', () => undefined)
  }

  /** A single statement, which is a transaction of its own. */
  readonly query: Query = async <Row extends object>(wanted: Statement, values: readonly unknown[] = []) => {
    this.#assertOpen()
    try {
      return (await this.#pool.query<Row & pg.QueryResultRow>(asked(wanted, values))).rows
    } catch (error) {
      throw toStoreError(error)
    }
  }

  /** All reads of `body` see the same commit. */
  read<Result>(body: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', body)
  }

  /** When it resolves, the writes of `body` are durable; when it rejects as unreachable, the outcome is unknown. */
  write<Result>(body: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#transaction('BEGIN', body)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#pool.end()
  }

  async #transaction<Result>(begin: string, body: (query: Query) => Promise<Result>): Promise<Result> {
    this.#assertOpen()
    let client: pg.PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw toStoreError(error)
    }
    // A statement in flight fails with the connection; this handles one that breaks in between.
    const ignore = () => undefined
    client.on('error', ignore)
    let isSound = false
    try {
      await client.query(begin)
      const result = await body(async (wanted, values = []) => {
        return (await client.query(asked(wanted, values))).rows
      })
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new StoreError('STORE_INTERNAL', 'PostgreSQL rolled back a commit.')
      isSound = true
      return result
    } catch (error) {
      isSound = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      )
      throw toStoreError(error)
    } finally {
      client.off('error', ignore)
      client.release(!isSound)
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StoreError('STORE_CLOSED', 'The store is closed.')
  }
}

const VERSION = statement(
  "SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync",
)

/** Refuses a server that is too old, or not configured for durability. */
export async function refuseUnfit(query: Query): Promise<void> {
  const [server] = await query<{ version: number; fsync: string }>(VERSION)
  const { version, fsync } = server as { version: number; fsync: string }
  if (version < OLDEST_SERVER)
    throw new StoreError(
      'STORE_ENGINE_TOO_OLD',
      `The server is PostgreSQL ${Math.floor(version / 10_000)}; 14 or newer is needed.`,
    )
  if (fsync !== 'on')
    throw new StoreError(
      'STORE_UNSAFE',
      'The PostgreSQL server runs with fsync = off and would lose commits it has acknowledged. Turn it on.',
    )
}

function integer(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new StoreError('STORE_INTERNAL', `${text} is past 2^53`)
  return value
}
