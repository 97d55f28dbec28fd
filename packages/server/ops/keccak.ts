/** Keccak-256 as Ethereum uses it: with Keccak's own padding, not that of SHA-3. */
import { INPUT_AT, keccakModule, MOST_BLOCKS, RATE } from './keccakModule.ts'

const STATE_BYTES = 200
const HASH_BYTES = 32

/** Node's types leave this global to the DOM's types, which a server does not load. */
type WebAssemblyGlobal = {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}
const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyGlobal }).WebAssembly

const { memory, absorb } = new Instance(new Module(keccakModule())).exports as {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly absorb: (blocks: number) => void
}
const state = new Uint8Array(memory.buffer, 0, STATE_BYTES)
const input = new Uint8Array(memory.buffer, INPUT_AT, MOST_BLOCKS * RATE)

export function keccak256(message: Uint8Array): Buffer {
  state.fill(0)
  let at = 0
  for (; message.length - at >= input.length; at += input.length) {
    input.set(message.subarray(at, at + input.length))
    absorb(MOST_BLOCKS)
  }
  const rest = message.length - at
  const blocks = Math.floor(rest / RATE) + 1
  input.set(message.subarray(at))
  input.fill(0, rest, blocks * RATE)
  input[rest] = 1
  input[blocks * RATE - 1] = (input[blocks * RATE - 1] as number) | 0x80
  absorb(blocks)
  return Buffer.from(state.subarray(0, HASH_BYTES))
}
