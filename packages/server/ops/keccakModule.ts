/**
 * Keccak-f[1600] with its sponge as a WebAssembly module, assembled here from the specification (FIPS 202, section
 * 3.2): JavaScript has no 64-bit integers outside BigInt, and most of the time of a block's proof is spent here.
 *
 * Memory: the state in the first 200 bytes, then the round constants, then whole blocks of input. `absorb(blocks)`
 * absorbs that many blocks into the state.
 */

/** Bytes of input per permutation for a 256-bit hash. */
export const RATE = 136
export const INPUT_AT = 512
const CONSTANTS_AT = 256
const PAGE_BYTES = 65_536
/** What fits into the single page of memory. */
export const MOST_BLOCKS = Math.floor((PAGE_BYTES - INPUT_AT) / RATE)

const ROUNDS = 24
const LANES = 25

const I32 = 0x7f
const I64 = 0x7e
const OP = {
  loop: [0x03, 0x40],
  end: [0x0b],
  again: [0x0d, 0x00],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  i32Below: [0x49],
  and: [0x83],
  xor: [0x85],
  rotateLeft: [0x89],
} as const

/** Locals: the number of blocks, the read position, the round constant, and the lanes by kind. */
const BLOCKS = 0
const INPUT = 1
const CONSTANT = 2
const A = 3
const B = A + LANES
const C = B + LANES
const D = C + 5

const get = (local: number): number[] => [0x20, ...unsigned(local)]
const set = (local: number): number[] => [0x21, ...unsigned(local)]
const i32 = (value: number): number[] => [0x41, ...signed(value)]
const i64 = (value: number): number[] => [0x42, ...signed(value)]
const load = (offset: number): number[] => [0x29, 3, ...unsigned(offset)]
const store = (offset: number): number[] => [0x37, 3, ...unsigned(offset)]
const rotated = (local: number, by: number): number[] =>
  by === 0 ? get(local) : [...get(local), ...i64(by), ...OP.rotateLeft]

export function keccakModule(): Uint8Array<ArrayBuffer> {
  const type = [0x60, 1, I32, 0]
  const locals = [2, 2, I32, ...unsigned(2 * LANES + 10), I64]
  const body = [...locals, ...absorb()]
  const table = [...i32(CONSTANTS_AT), ...OP.end, ...unsigned(8 * ROUNDS), ...constants()]
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  return Uint8Array.from(
    [
      magic,
      section(1, [1, ...type]),
      section(3, [1, 0]),
      section(5, [1, 0, 1]),
      section(7, [2, ...name('memory'), 2, 0, ...name('absorb'), 0, 0]),
      section(10, [1, ...unsigned(body.length), ...body]),
      section(11, [1, 0, ...table]),
    ].flat(),
  )
}

function absorb(): number[] {
  const lanes = Array.from({ length: LANES }, (_, lane) => lane)
  const read = lanes.slice(0, RATE / 8)
  return [
    lanes.flatMap(lane => [...i32(0), ...load(8 * lane), ...set(A + lane)]),
    [...i32(INPUT_AT), ...set(INPUT)],
    OP.loop,
    read.flatMap(lane => [...get(A + lane), ...get(INPUT), ...load(8 * lane), ...OP.xor, ...set(A + lane)]),
    [...get(INPUT), ...i32(RATE), ...OP.i32Add, ...set(INPUT)],
    [...i32(CONSTANTS_AT), ...set(CONSTANT)],
    [...OP.loop, ...round()],
    [...get(CONSTANT), ...i32(8), ...OP.i32Add, ...set(CONSTANT)],
    [...get(CONSTANT), ...i32(CONSTANTS_AT + 8 * ROUNDS), ...OP.i32Below, ...OP.again, ...OP.end],
    [...get(BLOCKS), ...i32(1), ...OP.i32Sub, ...set(BLOCKS)],
    [...i32(0), ...get(BLOCKS), ...OP.i32Below, ...OP.again, ...OP.end],
    lanes.flatMap(lane => [...i32(0), ...get(A + lane), ...store(8 * lane)]),
    OP.end,
  ].flat()
}

/** Theta, rho and pi, chi, iota; lane x, y is number x + 5y. */
function round(): number[] {
  const code: number[] = []
  const [row, lanes] = [5, LANES].map(count => Array.from({ length: count }, (_, at) => at)) as [
    number[],
    number[],
  ]
  for (const x of row) {
    code.push(...get(A + x))
    for (const y of [1, 2, 3, 4]) code.push(...get(A + x + 5 * y), ...OP.xor)
    code.push(...set(C + x))
  }
  for (const x of row)
    code.push(...get(C + ((x + 4) % 5)), ...rotated(C + ((x + 1) % 5), 1), ...OP.xor, ...set(D + x))
  for (const lane of lanes) code.push(...get(A + lane), ...get(D + (lane % 5)), ...OP.xor, ...set(A + lane))
  const offsets = rotations()
  for (const lane of lanes) {
    const [x, y] = [lane % 5, Math.floor(lane / 5)]
    code.push(...rotated(A + lane, offsets[lane] as number), ...set(B + y + 5 * ((2 * x + 3 * y) % 5)))
  }
  for (const lane of lanes) {
    const y = lane - (lane % 5)
    code.push(...get(B + lane), ...get(B + y + ((lane + 1) % 5)), ...i64(-1), ...OP.xor)
    code.push(...get(B + y + ((lane + 2) % 5)), ...OP.and, ...OP.xor, ...set(A + lane))
  }
  code.push(...get(A), ...get(CONSTANT), ...load(0), ...OP.xor, ...set(A))
  return code
}

/** Section 3.2.2: the rotation of each lane. */
function rotations(): number[] {
  const offsets = Array.from({ length: LANES }, () => 0)
  let [x, y] = [1, 0]
  for (let t = 0; t < 24; t++) {
    offsets[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return offsets
}

/** Section 3.2.5: the bits of a linear feedback register, at positions 2^j - 1. */
function constants(): number[] {
  const bytes: number[] = []
  let register = 1
  for (let at = 0; at < ROUNDS; at++) {
    const word = Array.from({ length: 8 }, () => 0)
    for (let j = 0; j <= 6; j++) {
      const bit = 2 ** j - 1
      if ((register & 1) === 1) word[bit >> 3] = (word[bit >> 3] as number) | (1 << (bit & 7))
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0)
    }
    bytes.push(...word)
  }
  return bytes
}

const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
]
const name = (text: string): number[] => [text.length, ...Buffer.from(text)]

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number): number[] {
  const [low, rest] = [value & 0x7f, value >> 7]
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}
