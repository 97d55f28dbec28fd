/**
 * The stream's door over a real store and a real HTTP server, without a chain: the log holds what a test commits,
 * and times that are minutes in the service are milliseconds here.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Envelope } from '@assay/sdk'
import { Access, type Scope } from '../../access/access.ts'
import { FailureThrottle } from '../../access/failureThrottle.ts'
import { ClientAddresses } from '../../access/clientAddress.ts'
import { RateLimit } from '../../access/rateLimit.ts'
import { type Clock, systemClock } from '../../ops/clock.ts'
import type { MaintenanceStore } from '../../store/maintenance.ts'
import type { RecordDraft, Store } from '../../store/port.ts'
import { claimDatabase } from '../../store/sqlite/claim.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import { commitOf } from '../../store/testing/drafts.ts'
import { SCHEMA_VERSION } from '@assay/sdk/wire'
import { type Cursor, sealCursor } from '../../stream/cursor.ts'
import { Hub } from '../../stream/hub.ts'
import { Roster, type RosterOptions } from '../../stream/roster.ts'
import { type GateOptions, StreamGate } from '../../ws/gate.ts'
import { opened, RawSocket } from './handshake.ts'
import { until } from './until.ts'
import { QUIET } from '../../ops/testing/quiet.ts'

export const CHAINS = [1, 2] as const

type Times = Pick<GateOptions, 'pingMs' | 'subscribeMs' | 'slowMs' | 'maxBuffered'>

export async function openTestGate(
  options: Times & { readonly clock?: Clock; readonly roster?: RosterOptions } = {},
): Promise<TestGate> {
  const { clock = systemClock, roster = {}, ...times } = options
  const folder = mkdtempSync(join(tmpdir(), 'assay-gate-'))
  const path = join(folder, 'gate.db')
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  const hub = await Hub.open(store, clock)
  const access = new Access(store, clock)
  const secret = await store.readSecret('cursor')
  const server = createServer()
  const gate = new StreamGate(server, {
    access,
    addresses: new ClientAddresses({ trusted: [], allowed: [] }),
    limit: new RateLimit(clock, { units: 1e6, windowMs: 1000, burst: 1e6 }),
    failures: new FailureThrottle(clock),
    hub,
    store,
    clock,
    cursorSecret: secret,
    chainIds: new Set(CHAINS),
    roster: new Roster(clock, roster),
    publicOrigin: null,
    door: { admit: () => true },
    log: QUIET,
    ...times,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return new TestGate(`http://127.0.0.1:${port}`, gate, hub, store, access, clock, secret, async () => {
    gate.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    hub.close()
    await store.close()
    release()
    rmSync(folder, { recursive: true, force: true })
  })
}

export class TestGate {
  readonly url: string
  readonly gate: StreamGate
  readonly store: Store & MaintenanceStore
  readonly secret: Uint8Array
  readonly close: () => Promise<void>
  readonly #hub: Hub
  readonly #access: Access
  readonly #clock: Clock
  readonly #steps = new Map<number, number>()
  #consumers = 0

  constructor(
    url: string,
    gate: StreamGate,
    hub: Hub,
    store: Store & MaintenanceStore,
    access: Access,
    clock: Clock,
    secret: Uint8Array,
    close: () => Promise<void>,
  ) {
    this.url = url
    this.gate = gate
    this.#hub = hub
    this.store = store
    this.secret = secret
    this.close = close
    this.#access = access
    this.#clock = clock
  }

  /** The newest position that every listener can know. */
  get seen(): number {
    return this.#hub.head
  }

  /** One step of a chain with these records. */
  async commit(chainId: number, records: readonly RecordDraft[]): Promise<number> {
    const step = (this.#steps.get(chainId) ?? 0) + 1
    this.#steps.set(chainId, step)
    const outcome = await this.store.commit(commitOf(chainId, step, { records, atMs: this.#clock.nowMs() }))
    if (outcome.outcome !== 'committed') throw new Error(`step ${step}: ${JSON.stringify(outcome)}`)
    // As a worker does.
    this.#hub.wake()
    return outcome.last
  }

  /** Sequences of a chain's records above one, straight from the store. */
  async sequences(chainId: number, after = 0): Promise<number[]> {
    const found: number[] = []
    for (let page = await this.store.readLog(after, 1000, chainId); page.length > 0; ) {
      found.push(...page.map(({ sequence }) => sequence))
      page = await this.store.readLog(found.at(-1) ?? after, 1000, chainId)
    }
    return found
  }

  async headers(scopes: readonly Scope[] = ['stream']): Promise<{ readonly authorization: string }> {
    const consumer = `consumer-${++this.#consumers}`
    return { authorization: `Bearer ${(await this.#access.issue(consumer, consumer, scopes, null)).key}` }
  }

  /** An open socket of a consumer of its own that has sent nothing yet. */
  async open(options: { readonly autoPong?: boolean } = {}): Promise<RawSocket> {
    return opened(this.url, { ...options, headers: await this.headers() })
  }

  async subscribe(filter: object, resumeCursor: string | null = null): Promise<RawSocket> {
    const raw = await this.open()
    raw.send({ filter, resume_cursor: resumeCursor })
    return raw
  }

  /** A cursor as this service would seal it, but for what the test changes. */
  seal(parts: Partial<Cursor> = {}): string {
    return sealCursor(this.secret, {
      epoch: 0,
      chainId: 1,
      sequence: 0,
      schemaVersion: SCHEMA_VERSION,
      issuedAtMs: this.#clock.nowMs(),
      ...parts,
    })
  }
}

export const recordsOf = (raw: RawSocket): Envelope[] =>
  raw.frames.map(frame => JSON.parse(frame) as Envelope)
export const sequencesOf = (raw: RawSocket): number[] => recordsOf(raw).map(record => record.stream_sequence)

export async function untilHeard(raw: RawSocket, sequence: number): Promise<number[]> {
  await until(`sequence ${sequence} heard`, () => {
    if (raw.closed !== null) throw new Error(`closed: ${JSON.stringify(raw.closed)}`)
    return sequencesOf(raw).at(-1) === sequence
  })
  return sequencesOf(raw)
}
