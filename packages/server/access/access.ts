/**
 * Who is asking. A bearer key or a session cookie becomes a principal, or the refusal to give. With both the
 * bearer alone counts; an invalid bearer is refused even beside a good cookie.
 */
import type { Clock } from '../ops/clock.ts'
import type { AccessStore, KeyRow, SessionRow } from '../store/port.ts'
import { hashOf, isSameHash, issueKey, parseKey, randomText } from './apiKey.ts'

export type Scope = 'read' | 'stream' | 'admin'
export const SCOPES: readonly Scope[] = ['read', 'stream', 'admin']
export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)

export type Principal = {
  readonly consumer: string
  readonly keyId: string
  readonly scopes: readonly string[]
  /** The session's hash when the cookie authenticated. */
  readonly session: SessionRow | null
}

export type Presented = { readonly bearer: string | null; readonly cookie: string | null }

/** How long a key read from the store is trusted: revocation is effective within five seconds. */
const KEY_CACHE_MS = 2000
const SESSION_MS = 12 * 3_600_000
const IDLE_MS = 60 * 60_000
const MAX_SESSIONS = 50
/** A session is touched in the store no more often than this. */
const TOUCH_MS = 30_000

export class Access {
  readonly #store: AccessStore
  readonly #clock: Clock
  readonly #keys = new Map<string, { readonly row: KeyRow | null; readonly readAtMs: number }>()

  constructor(store: AccessStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Null: 401. */
  async authenticate({ bearer, cookie }: Presented): Promise<Principal | null> {
    if (bearer !== null) return this.#byKey(bearer)
    return cookie === null ? null : this.#bySession(cookie)
  }

  /** Still valid? Asked of open streams, so that a revoked key ends them. */
  async isValid({ keyId, session }: Principal): Promise<boolean> {
    const key = await this.#readKey(keyId)
    if (key === null || !this.#isLive(key)) return false
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
  ): Promise<{ readonly key: string; readonly keyId: string }> {
    const { key, keyId, secretHash } = issueKey()
    const nowMs = this.#clock.nowMs()
    await this.#store.insertKey({
      keyId,
      consumer,
      name,
      secretHash,
      scopes,
      createdAtMs: nowMs,
      expiresAtMs,
      revokedAtMs: null,
    })
    await this.#store.audit({
      atMs: nowMs,
      actor: 'operator',
      action: 'key.issue',
      subject: keyId,
      detail: JSON.stringify({ name, consumer, scopes }),
    })
    return { key, keyId }
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

  async #byKey(text: string): Promise<Principal | null> {
    const parsed = parseKey(text)
    if (parsed === null) return null
    const key = await this.#readKey(parsed.keyId)
    if (key === null || !isSameHash(key.secretHash, hashOf(text)) || !this.#isLive(key)) return null
    return { consumer: key.consumer, keyId: key.keyId, scopes: key.scopes, session: null }
  }

  async #bySession(id: string): Promise<Principal | null> {
    const session = await this.#store.readSession(hashOf(id))
    const nowMs = this.#clock.nowMs()
    if (session === null || session.expiresAtMs <= nowMs || session.lastUsedAtMs + IDLE_MS <= nowMs)
      return null
    const key = await this.#readKey(session.keyId)
    if (key === null || !this.#isLive(key)) return null
    if (nowMs - session.lastUsedAtMs > TOUCH_MS) await this.#store.touchSession(session.idHash, nowMs)
    return { consumer: key.consumer, keyId: key.keyId, scopes: key.scopes, session }
  }

  async #readKey(keyId: string): Promise<KeyRow | null> {
    const nowMs = this.#clock.monotonicMs()
    const cached = this.#keys.get(keyId)
    if (cached !== undefined && nowMs - cached.readAtMs < KEY_CACHE_MS) return cached.row
    const row = await this.#store.readKey(keyId)
    // Unknown ids are not remembered: a flood of them must not fill memory.
    if (row === null) this.#keys.delete(keyId)
    else this.#keys.set(keyId, { row, readAtMs: nowMs })
    return row
  }

  #isLive(key: KeyRow): boolean {
    return key.revokedAtMs === null && (key.expiresAtMs === null || key.expiresAtMs > this.#clock.nowMs())
  }
}

/** 43 base62 letters: more than 256 bits. */
const SESSION_ID_LENGTH = 43
