/**
 * How the text of a pool event is stored. Nearly every text starts with the time of the block, the hash of the
 * transaction and the proof: these are stored in 53 characters instead of 137, and the rest as it is. Any other text,
 * and every text from before, is stored whole: a whole text starts with a brace.
 */
const HEAD =
  /^\{"block_time_ms":([1-9]\d{12}),"transaction_hash":"0x([0-9a-f]{64})","proof":"(receipts|digest|none)"([,}].*)$/s

/** The stored name of each proof. Append only. */
const PROOFS = { receipts: 'R', digest: 'D', none: 'N' } as const
const PROOF_OF: Readonly<Record<string, string>> = { R: 'receipts', D: 'digest', N: 'none' }

const HASH_LENGTH = 43
/** Of a time in base 36: enough for thirteen digits. */
const TIME_LENGTH = 9
const HEAD_LENGTH = 1 + HASH_LENGTH + TIME_LENGTH

export function packBody(body: string): string {
  const [, timeMs, hash, proof, rest] = HEAD.exec(body) ?? []
  if (timeMs === undefined || hash === undefined || rest === undefined) return body
  const time = Number(timeMs).toString(36).padStart(TIME_LENGTH, '0')
  return PROOFS[proof as keyof typeof PROOFS] + Buffer.from(hash, 'hex').toString('base64url') + time + rest
}

export function unpackBody(stored: string): string {
  const proof = PROOF_OF[stored[0] ?? '']
  if (proof === undefined) return stored
  const hash = Buffer.from(stored.slice(1, 1 + HASH_LENGTH), 'base64url').toString('hex')
  const timeMs = Number.parseInt(stored.slice(1 + HASH_LENGTH, HEAD_LENGTH), 36)
  return `{"block_time_ms":${timeMs},"transaction_hash":"0x${hash}","proof":"${proof}"${stored.slice(HEAD_LENGTH)}`
}
