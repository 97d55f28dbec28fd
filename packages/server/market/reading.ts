/** Calls to factories and pools at one block. */
import type { Address, Hex } from '../ops/hex.ts'
import type { Pair, Reader } from './family.ts'
import { addressAt, callData, encodeAddress, wordCount } from './abiWords.ts'

const NO_POOL = `0x${'0'.repeat(40)}`

/** The pool that a factory returns for the pair; null when it returns none, or does not answer. */
export async function askFactory(
  reader: Reader,
  factory: Address,
  selector: Hex,
  pair: Pair,
  ...rest: readonly string[]
): Promise<Address | null> {
  const { rpc, block, signal } = reader
  const answer = await rpc.call(
    factory,
    callData(selector, ...pair.map(encodeAddress), ...rest),
    block.hash,
    signal,
  )
  if (!isWord(answer)) return null
  const pool = addressAt(answer, 0)
  return pool === NO_POOL ? null : pool
}

/** Throws when the contract returns nothing: it is not of the expected kind. */
export async function answered({ rpc, block, signal }: Reader, to: Address, data: Hex): Promise<Hex> {
  const answer = await rpc.call(to, data, block.hash, signal)
  if (answer === null) throw new RangeError(`${to} does not answer ${data.slice(0, 10)}`)
  return answer
}

export const isWord = (answer: Hex | null): answer is Hex => answer !== null && wordCount(answer) >= 1
