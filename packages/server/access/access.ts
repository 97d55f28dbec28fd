/**
 * Who is asking. A bearer key or a session cookie becomes a principal, or the refusal to give. With both the
 * bearer alone counts; an invalid bearer is refused even beside a good cookie.
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
  /** The session's hash when the cookie authenticated. */
  readonly session: SessionRow | null
  /** Null: what the service gives everyone. */
  readonly limits: Limits | null
}

export type Presented = { readonly bearer: string | null; readonly cookie: string | null }

/** How long a key read from the store is trusted: revocation is effective within five seconds. */
const KEY_CACHE_MS = 2000
const SESSION_MS = 12 * 3_600_000
const IDLE_MS = 60 * 60_000
const MAX_SESSIONS = 50
/** A session is touched in the store no more often than this. */
const TOUCH_MS = 30_000

type AccessPort = AccessStore & Pick<OperatorStore, 'readConsumer'>

/** A key as it was read, with the limits of its consumer. */
type Known = { readonly row: KeyRow; readonly limits: Limits | null; readonly readAtMs: number }

/** Who changes something: a key of the API, or whoever may use this machine's command line. */
export const OPERATOR = 'operator'

export class Access {
  readonly #store: AccessPort
  readonly #clock: Clock
  readonly #keys = new Map<string, Known>()

  constructor(store: AccessPort, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Null: 401. */
  async authenticate({ bearer, cookie }: Presented): Promise<Principal | null> {
    if (bearer !== null) return this.#byKey(bearer)
    return cookie === null ? null : this.#bySession(cookie)
  }

  /** Who a key seen a moment ago belongs to, without asking anyone; null says nothing about the key. */
  recall(bearer: string): Principal | null {
    const known = this.#cached(bearer.slice(ID_AT.from, ID_AT.to))
    if (known === null || !isSameHash(known.row.secretHash, hashOf(bearer)) || !this.#isLive(known.row))
      return null
    return principalOf(known, null)
  }

  /** Still valid? Asked of open streams, so that a revoked key ends them. */
  async isValid({ keyId, session }: Principal): Promise<boolean> {
    const key = await this.#readKey(keyId)
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

  /** False when there is no such key, or it is revoked already. */
  async revoke(keyId: string, actor: string = OPERATOR): Promise<boolean> {
    if (!(await this.#store.revokeKey(keyId, this.#clock.nowMs()))) return false
    // Elsewhere it takes as long as a key is remembered.
    this.#keys.delete(keyId)
    await this.#audit(actor, 'key.revoke', keyId, null)
    return true
  }

  /** Another key in its place, which ends at once; null when there is no such live key. */
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

  /** The limits of a consumer have changed: they are read anew with the next request. */
  forget(consumer: string): void {
    for (const [keyId, { row }] of this.#keys) if (row.consumer === consumer) this.#keys.delete(keyId)
  }

  async #audit(actor: string, action: string, subject: string, detail: object | null): Promise<void> {
    const text = detail === null ? null : JSON.stringify(detail)
    await this.#store.audit({ atMs: this.#clock.nowMs(), actor, action, subject, detail: text })
  }

  /**
   * A new session of the principal's key. A consumer that has its fill loses the one not used for longest: a
   * client that only ever asks for cursors must not lock itself out.
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
   * Every key that is refused costs one read of the store and one comparison, known or not: how long a refusal takes
   * tells nobody which ids exist.
   */
  async #byKey(text: string): Promise<Principal | null> {
    const parsed = parseKey(text)
    if (parsed === null) return null
    const hash = hashOf(text)
    const cached = this.#cached(parsed.keyId)
    if (cached !== null && isSameHash(cached.row.secretHash, hash))
      return this.#isLive(cached.row) ? principalOf(cached, null) : null
    const row = await this.#store.readKey(parsed.keyId)
    const isRight = isSameHash(row?.secretHash ?? NO_HASH, hash)
    if (row === null || !isRight || !this.#isLive(row)) return null
    return principalOf(await this.#remember(row), null)
  }

  async #bySession(id: string): Promise<Principal | null> {
    const session = await this.#store.readSession(hashOf(id))
    const nowMs = this.#clock.nowMs()
    if (session === null || session.expiresAtMs <= nowMs || session.lastUsedAtMs + IDLE_MS <= nowMs)
      return null
    const key = await this.#readKey(session.keyId)
    if (key === null || !this.#isLive(key.row)) return null
    if (nowMs - session.lastUsedAtMs > TOUCH_MS) await this.#store.touchSession(session.idHash, nowMs)
    return principalOf(key, session)
  }

  /** Unknown ids are not remembered: a flood of them must not fill memory. */
  async #readKey(keyId: string): Promise<Known | null> {
    const cached = this.#cached(keyId)
    if (cached !== null) return cached
    const row = await this.#store.readKey(keyId)
    return row === null ? null : this.#remember(row)
  }

  #cached(keyId: string): Known | null {
    const cached = this.#keys.get(keyId)
    if (cached === undefined) return null
    if (this.#clock.monotonicMs() - cached.readAtMs < KEY_CACHE_MS) return cached
    this.#keys.delete(keyId)
    return null
  }

  async #remember(row: KeyRow): Promise<Known> {
    const text = (await this.#store.readConsumer(row.consumer))?.limits ?? null
    const known = { row, limits: text === null ? null : limitsIn(text), readAtMs: this.#clock.monotonicMs() }
    this.#keys.set(row.keyId, known)
    return known
  }

  #isLive(key: KeyRow): boolean {
    return key.revokedAtMs === null && (key.expiresAtMs === null || key.expiresAtMs > this.#clock.nowMs())
  }
}

const principalOf = ({ row, limits }: Known, session: SessionRow | null): Principal => ({
  consumer: row.consumer,
  keyId: row.keyId,
  scopes: row.scopes,
  session,
  limits,
})

/** Where the public id stands in a key. */
const ID_AT = { from: 'assay_'.length, to: 'assay_'.length + 8 } as const

/** What a key nobody has is compared with. */
const NO_HASH = new Uint8Array(32)

/** 43 base62 letters: more than 256 bits. */
const SESSION_ID_LENGTH = 43
