/**
 * Authentication: turns a bearer key or a session cookie into a principal, or into the refusal to send. If both are
 * present only the bearer counts; an invalid bearer is refused even beside a valid cookie.
 */
import type { Clock } from '../ops/clock.ts'
import type { OperatorStore } from '../store/operator.ts'
import type { AccessStore, KeyRow, SessionRow } from '../store/port.ts'
import { hashOf, isSameHash, issueKey, parseKey, randomText } from './apiKey.ts'
import { type Limits, limitsIn } from './limits.ts'

export type Scope = 'read' | 'stream' | 'admin'
export const SCOPES: readonly Scope[] = ['read', 'stream', 'admin']
export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)

export type Principal = {
  readonly consumer: string
  readonly keyId: string
  readonly scopes: readonly string[]
  /** The session's hash when the cookie authenticated the request. */
  readonly session: SessionRow | null
  /** Null for the service's default limits. */
  readonly limits: Limits | null
}

export type Presented = { readonly bearer: string | null; readonly cookie: string | null }

/** How long a key read from the store is trusted: a revocation takes effect within five seconds. */
const KEY_CACHE_MS = 2000
/**
 * A key in use is read again once it is this old, while it is still trusted, so that active clients never wait for the
 * read.
 */
const RENEW_MS = 1000
/** The same for periodic checks of open streams: many streams of one key cause one read. */
const OPEN_CACHE_MS = 500
const SESSION_MS = 12 * 3_600_000
const IDLE_MS = 60 * 60_000
const MAX_SESSIONS = 50
/** The store records the use of a session at most this often. */
const TOUCH_MS = 30_000

type AccessPort = AccessStore & Pick<OperatorStore, 'readConsumer'>

/** A key as read from the store, with the limits of its consumer. */
type Known = {
  readonly row: KeyRow
  readonly principal: Principal
  readonly readAtMs: number
  /** The header with the key, once a request has presented it. */
  proven: string | null
  isBeingRenewed: boolean
}

/** The author of a change: an API key, or a user of this machine's command line. */
export const OPERATOR = 'operator'

export class Access {
  readonly #store: AccessPort
  readonly #clock: Clock
  readonly #keys = new Map<string, Known>()
  /**
   * Keys that have been verified, by their header: hashing a key again costs more than an answer. A map compares
   * strings only after its own seeded hash matches, so its timing does not reveal where two keys differ.
   */
  readonly #proven = new Map<string, Known>()

  constructor(store: AccessPort, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Null means 401. */
  async authenticate({ bearer, cookie }: Presented): Promise<Principal | null> {
    if (bearer !== null) return this.#byKey(bearer)
    return cookie === null ? null : this.#bySession(cookie)
  }

  /**
   * The principal of a header whose key was verified recently, without a read of the store; null says nothing about the
   * key.
   */
  recall(authorization: string, monotonicMs: number, nowMs: number): Principal | null {
    const known = this.#proven.get(authorization)
    if (known === undefined) return null
    const ageMs = monotonicMs - known.readAtMs
    if (ageMs >= KEY_CACHE_MS) return null
    if (ageMs >= RENEW_MS && !known.isBeingRenewed) void this.#renew(known)
    return this.#isLive(known.row, nowMs) ? known.principal : null
  }

  /** Whether the credential is still valid. Open streams are checked with it, so that a revoked key ends them. */
  async isValid({ keyId, session }: Principal): Promise<boolean> {
    const key = await this.#readKey(keyId, OPEN_CACHE_MS)
    if (key === null || !this.#isLive(key.row)) return false
    if (session === null) return true
    const row = await this.#store.readSession(session.idHash)
    if (row === null || row.expiresAtMs <= this.#clock.nowMs()) return false
    await this.#store.touchSession(row.idHash, this.#clock.nowMs())
    return true
  }

  async issue(
    name: string,
    consumer: string,
    scopes: readonly Scope[],
    expiresAtMs: number | null,
    actor: string = OPERATOR,
  ): Promise<{ readonly key: string; readonly keyId: string; readonly row: KeyRow }> {
    const { key, keyId, secretHash } = issueKey()
    const nowMs = this.#clock.nowMs()
    const row: KeyRow = {
      keyId,
      consumer,
      name,
      secretHash,
      scopes,
      createdAtMs: nowMs,
      expiresAtMs,
      revokedAtMs: null,
    }
    await this.#store.insertKey(row)
    await this.#audit(actor, 'key.issue', keyId, { name, consumer, scopes, expires_at_ms: expiresAtMs })
    return { key, keyId, row }
  }

  list(): Promise<readonly KeyRow[]> {
    return this.#store.listKeys()
  }

  /** False when the key does not exist or is revoked already. */
  async revoke(keyId: string, actor: string = OPERATOR): Promise<boolean> {
    if (!(await this.#store.revokeKey(keyId, this.#clock.nowMs()))) return false
    // On other nodes it takes effect once the cached key expires.
    this.#forget(keyId)
    await this.#audit(actor, 'key.revoke', keyId, null)
    return true
  }

  /** Replaces a key, which ends at once, with a new one; null when there is no such live key. */
  async roll(keyId: string, actor: string = OPERATOR) {
    const old = await this.#store.readKey(keyId)
    if (old === null || !this.#isLive(old)) return null
    const issued = await this.issue(
      old.name,
      old.consumer,
      old.scopes.filter(isScope),
      old.expiresAtMs,
      actor,
    )
    await this.revoke(keyId, actor)
    return issued
  }

  /** Call after a consumer's limits have changed: the next request reads them again. */
  forget(consumer: string): void {
    for (const [keyId, { row }] of this.#keys) if (row.consumer === consumer) this.#forget(keyId)
  }

  async #audit(actor: string, action: string, subject: string, detail: object | null): Promise<void> {
    const text = detail === null ? null : JSON.stringify(detail)
    await this.#store.audit({ atMs: this.#clock.nowMs(), actor, action, subject, detail: text })
  }

  /**
   * Opens a new session for the principal's key. A consumer at its limit loses its least recently used session: a
   * client that only ever requests cursors must not lock itself out.
   */
  async openSession(principal: Principal): Promise<{ readonly id: string; readonly session: SessionRow }> {
    const nowMs = this.#clock.nowMs()
    if ((await this.#store.countSessions(principal.consumer, nowMs)) >= MAX_SESSIONS)
      await this.#store.retireSession(principal.consumer)
    const id = randomText(SESSION_ID_LENGTH)
    const session: SessionRow = {
      idHash: hashOf(id),
      keyId: principal.keyId,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + SESSION_MS,
      lastUsedAtMs: nowMs,
    }
    await this.#store.insertSession(session)
    return { id, session }
  }

  async closeSession(session: SessionRow): Promise<void> {
    await this.#store.deleteSession(session.idHash)
  }

  /**
   * Every refused key costs one read of the store and two comparisons, known or not, so the time of a refusal does not
   * reveal which ids exist.
   */
  async #byKey(text: string): Promise<Principal | null> {
    const parsed = parseKey(text)
    if (parsed === null) return null
    const hash = hashOf(text)
    const cached = this.#cached(parsed.keyId)
    const isCached = isSameHash(cached?.row.secretHash ?? NO_HASH, hash)
    if (cached !== null && isCached) {
      this.#prove(cached, `Bearer ${text}`)
      return this.#isLive(cached.row) ? cached.principal : null
    }
    if (!isSameHash(await this.#store.readSecretHash(parsed.keyId), hash)) return null
    const known = await this.#read(parsed.keyId)
    if (known === null || !this.#isLive(known.row)) return null
    this.#keep(known)
    this.#prove(known, `Bearer ${text}`)
    return known.principal
  }

  async #bySession(id: string): Promise<Principal | null> {
    const session = await this.#store.readSession(hashOf(id))
    const nowMs = this.#clock.nowMs()
    if (session === null || session.expiresAtMs <= nowMs || session.lastUsedAtMs + IDLE_MS <= nowMs)
      return null
    const key = await this.#readKey(session.keyId)
    if (key === null || !this.#isLive(key.row)) return null
    if (nowMs - session.lastUsedAtMs > TOUCH_MS) await this.#store.touchSession(session.idHash, nowMs)
    return { ...key.principal, session }
  }

  /** Unknown ids are not cached: a flood of them must not fill memory. */
  async #readKey(keyId: string, maxAgeMs = KEY_CACHE_MS): Promise<Known | null> {
    const cached = this.#cached(keyId, maxAgeMs)
    if (cached !== null) return cached
    const known = await this.#read(keyId)
    if (known === null) this.#forget(keyId)
    else this.#keep(known)
    return known
  }

  #cached(keyId: string, maxAgeMs = KEY_CACHE_MS): Known | null {
    const cached = this.#keys.get(keyId)
    return cached !== undefined && this.#clock.monotonicMs() - cached.readAtMs < maxAgeMs ? cached : null
  }

  /**
   * Reads the key again while the cached one still counts. A revocation that arrived meanwhile may be newer than this
   * read, so it wins.
   */
  async #renew(known: Known): Promise<void> {
    known.isBeingRenewed = true
    const { keyId } = known.row
    const fresh = await this.#read(keyId).catch(() => null)
    if (fresh !== null && this.#keys.get(keyId) === known) this.#keep(fresh)
  }

  #prove(known: Known, authorization: string): void {
    known.proven = authorization
    this.#proven.set(authorization, known)
  }

  #forget(keyId: string): void {
    const known = this.#keys.get(keyId)
    this.#keys.delete(keyId)
    if (known?.proven != null) this.#proven.delete(known.proven)
  }

  async #read(keyId: string): Promise<Known | null> {
    const readAtMs = this.#clock.monotonicMs()
    const row = await this.#store.readKey(keyId)
    if (row === null) return null
    const text = (await this.#store.readConsumer(row.consumer))?.limits ?? null
    const principal: Principal = {
      consumer: row.consumer,
      keyId: row.keyId,
      scopes: row.scopes,
      session: null,
      limits: text === null ? null : limitsIn(text),
    }
    return { row, principal, readAtMs, proven: null, isBeingRenewed: false }
  }

  /** Replaces the cached key. A verified key stays verified while its secret is the same. */
  #keep(known: Known): void {
    const { keyId, secretHash } = known.row
    const before = this.#keys.get(keyId)
    this.#forget(keyId)
    this.#keys.set(keyId, known)
    if (before?.proven != null && isSameHash(before.row.secretHash, secretHash))
      this.#prove(known, before.proven)
  }

  #isLive(key: KeyRow, nowMs = this.#clock.nowMs()): boolean {
    return key.revokedAtMs === null && (key.expiresAtMs === null || key.expiresAtMs > nowMs)
  }
}

/** Compared with when the key does not exist. */
const NO_HASH = new Uint8Array(32)

/** 43 base62 letters: more than 256 bits. */
const SESSION_ID_LENGTH = 43
