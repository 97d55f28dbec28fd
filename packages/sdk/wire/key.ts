/** API keys as issued and listed by the operator. The key itself is shown once, when it is issued or rolled. */
import { Ms } from './quantity.ts'
import {
  array,
  enumeration,
  nullable,
  object,
  optional,
  pattern,
  type Static,
  strictObject,
  string,
} from './schema.ts'

/** `read`: every GET, batch, session. `stream`: stream, SSE, the pool snapshot, session. `admin`: admin. */
export const SCOPES = ['read', 'stream', 'admin'] as const
export const Scope = enumeration(SCOPES)

/** `assay_<public id>_<secret><checksum>`, all base62. */
export const ApiKeyText = pattern('^assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$')

/** Keys of one consumer share its limits. */
const Consumer = string({ minLength: 1, maxLength: 64 })

const keyFields = {
  key_id: string(),
  consumer: Consumer,
  name: string(),
  scopes: array(Scope),
  created_at_ms: Ms,
  expires_at_ms: nullable(Ms),
  revoked_at_ms: nullable(Ms),
} as const

export const Key = object(keyFields)
export type Key = Static<typeof Key>

export const KeyList = object({ keys: array(Key) })
export type KeyList = Static<typeof KeyList>

/** The 201 response to issuing or rolling a key. */
export const IssuedKey = object({ ...keyFields, key: ApiKeyText })
export type IssuedKey = Static<typeof IssuedKey>

/** Body of POST /v1/admin/keys. */
export const KeyRequest = strictObject({
  consumer: Consumer,
  name: string({ minLength: 1, maxLength: 64 }),
  scopes: array(Scope, { minItems: 1, uniqueItems: true }),
  expires_at_ms: optional(Ms),
})
export type KeyRequest = Static<typeof KeyRequest>
