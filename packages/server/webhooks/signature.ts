/**
 * Standard Webhooks: the id, the time and the body of a message are signed, so that none of them can be changed or
 * replayed later.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '../ops/secret.ts'

const PREFIX = 'whsec_'
/** The specification requires 24 to 64. */
const SECRET_BYTES = 32

export const makeSecret = (): Secret => new Secret(`${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`)

export type Signed = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** While a secret is being replaced, both sign: a receiver accepts the one it knows. */
export function sign(secrets: readonly Secret[], id: string, atMs: number, body: string): Signed {
  const timestamp = String(Math.floor(atMs / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(secret => `v1,${tagOf(secret, `${id}.${timestamp}.${body}`)}`).join(' '),
  }
}

const tagOf = (secret: Secret, text: string): string =>
  createHmac('sha256', Buffer.from(secret.reveal().slice(PREFIX.length), 'base64'))
    .update(text)
    .digest('base64')
