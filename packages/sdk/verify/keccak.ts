/**
 * Keccak-256 as used by Ethereum (with the padding from before SHA-3 was standardised), for the few hashes a reader
 * of quotes needs. Browsers have no such function. Written for clarity: a hash takes a fraction of a millisecond.
 */
const ROUNDS = 24
const LANES = 25
const RATE_BYTES = 136
const MASK = (1n << 64n) - 1n

/** The hash of the bytes given as hex digits, with or without a leading `0x`. */
export function keccak256(hex: string): `0x${string}` {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex
  const length = digits.length / 2
  const padded = new Uint8Array(Math.ceil((length + 1) / RATE_BYTES) * RATE_BYTES)
  for (let i = 0; i < length; i++) padded[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  padded[length] = 0x01
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80
  let lanes: readonly bigint[] = Array.from({ length: LANES }, () => 0n)
  const view = new DataView(padded.buffer)
  for (let block = 0; block < padded.length; block += RATE_BYTES)
    lanes = permuted(
      lanes.map((lane, i) => (i * 8 < RATE_BYTES ? lane ^ view.getBigUint64(block + i * 8, true) : lane)),
    )
  const out = new DataView(new ArrayBuffer(32))
  for (let i = 0; i < 4; i++) out.setBigUint64(i * 8, lanes[i] as bigint, true)
  return `0x${Array.from(new Uint8Array(out.buffer), byte => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Lane (x, y) is at x + 5y. */
function permuted(start: readonly bigint[]): readonly bigint[] {
  let state = [...start]
  let feedback = 1
  for (let round = 0; round < ROUNDS; round++) {
    const columns = [0, 1, 2, 3, 4].map(x => [0, 1, 2, 3, 4].reduce((sum, y) => sum ^ at(state, x, y), 0n))
    const theta = [0, 1, 2, 3, 4].map(
      x => (columns[(x + 4) % 5] as bigint) ^ rotated(columns[(x + 1) % 5] as bigint, 1),
    )
    state = state.map((lane, i) => lane ^ (theta[i % 5] as bigint))
    // Rho and pi: one walk over all lanes except the first.
    const moved = [...state]
    for (let t = 0, x = 1, y = 0; t < 24; t++) {
      const [nextX, nextY] = [y, (2 * x + 3 * y) % 5]
      moved[nextX + 5 * nextY] = rotated(at(state, x, y), (((t + 1) * (t + 2)) / 2) % 64)
      ;[x, y] = [nextX, nextY]
    }
    state = moved.map((lane, i) => {
      const [x, y] = [i % 5, Math.floor(i / 5)]
      return lane ^ (~at(moved, x + 1, y) & MASK & at(moved, x + 2, y))
    })
    // Iota: seven bits of a shift register set bits 2^j - 1 of the first lane.
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if ((feedback & 1) === 1) constant |= 1n << BigInt(2 ** j - 1)
      feedback = (feedback << 1) ^ (feedback >> 7 === 1 ? 0x171 : 0)
    }
    state[0] = (state[0] as bigint) ^ constant
  }
  return state
}

const at = (state: readonly bigint[], x: number, y: number): bigint => state[(x % 5) + 5 * y] as bigint

const rotated = (lane: bigint, by: number): bigint =>
  ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK
