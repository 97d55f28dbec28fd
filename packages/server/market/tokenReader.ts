/**
 * What a token reports about itself at a block. decimals() is optional in ERC-20 and may revert, lie or change: it is
 * read as a full word, at two blocks. A name is only text for people.
 */
import { count, type TokenFacts } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { uintAt, wordCount } from './abiWords.ts'

const MAX_DECIMALS = 36n
/** Longer names are cut: they are for people, and some have megabytes. */
const MAX_TEXT = 64

/** Lower addresses are precompiles, which have no code and may return data for any call. */
const FIRST_CONTRACT = 0x10000n

/**
 * Null when nothing at the address answers like a token: an address without code answers every call with no bytes. All
 * reads take one round of calls. `earlier` is an ancestor of the block; left out, decimals are read once.
 */
export async function readToken(
  rpc: ChainRpc,
  token: Address,
  block: BlockRef,
  signal: AbortSignal,
  earlier?: Hex,
): Promise<TokenFacts | null> {
  if (BigInt(token) < FIRST_CONTRACT) return null
  const ask = (selector: Hex, hash = block.hash) => rpc.call(token, selector, hash, signal)
  const [decimals, before, supply, symbol, name] = await Promise.all([
    ask(SELECTOR['decimals()']),
    earlier === undefined ? undefined : ask(SELECTOR['decimals()'], earlier),
    ask(SELECTOR['totalSupply()']),
    ask(SELECTOR['symbol()']),
    ask(SELECTOR['name()']),
  ])
  if (supply === null || wordCount(supply) < 1) return null
  // A token deployed since then has no earlier answer.
  const second = before === undefined || before === '0x' ? decimals : before
  return { token, ...decimalsFrom(decimals, second), symbol: textFrom(symbol), name: textFrom(name) }
}

function decimalsFrom(first: Hex | null, second: Hex | null): Pick<TokenFacts, 'decimals' | 'reason'> {
  if (first === null || wordCount(first) < 1)
    return { decimals: null, reason: first === null ? 'decimals() reverts' : 'decimals() returns nothing' }
  if (first !== second) return { decimals: null, reason: 'two readings of decimals() differ' }
  const value = uintAt(first, 0)
  if (value > MAX_DECIMALS)
    return { decimals: null, reason: `decimals() is ${value}, not 0 to ${MAX_DECIMALS}` }
  return { decimals: count(Number(value)), reason: null }
}

/** A string, or a bytes32 padded with zeros; control characters are dropped. */
export function textFrom(answer: Hex | null): string | null {
  if (answer === null || wordCount(answer) < 1) return null
  const bytes = Buffer.from(answer.slice(2), 'hex')
  const isString = bytes.length >= 64 && uintAt(answer, 0) === 32n
  const length = isString ? Math.min(Number(uintAt(answer, 1)), bytes.length - 64) : bytes.length
  const raw = isString ? bytes.subarray(64, 64 + length) : bytes.subarray(0, 32)
  const clean = raw
    .toString('utf8')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
  // A character takes one or two code units; avoid splitting megabytes of them.
  const head = Array.from(clean.slice(0, 2 * MAX_TEXT))
  return clean === '' ? null : head.slice(0, MAX_TEXT).join('')
}
