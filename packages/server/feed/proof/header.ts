/**
 * Block headers as an endpoint gives them, checked against what was asked: the hash asked is the hash
 * answered, and a parent is one block below its child.
 * Where the chain's headers can be encoded, the fields answered give that hash, so none of them is made up.
 */
import type { Hex, ProofRules } from '../../ops/config.ts'
import {
  decodeAnswer,
  type Fields,
  FieldError,
  hexOf,
  toCount,
  toFields,
  toHash,
  toHex,
  toList,
} from '../answers/answer.ts'
import { pause } from '../condition.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { BlockRef } from '../feed.ts'
import { FeedError } from '../feedError.ts'
import { type HeaderProof, proveHeader } from './headerHash.ts'

/** A head as it is announced. */
export type Head = BlockRef & { readonly parentHash: Hex }

export type Header = Head &
  HeaderProof & {
    readonly receiptsRoot: Hex
    readonly logsBloom: Hex
    /** Null in a pushed header, which comes without its block's body. */
    readonly transactions: readonly Hex[] | null
  }

export type ListedHeader = Header & { readonly transactions: readonly Hex[] }

type BlockTag = 'latest' | 'finalized'

/**
 * A node may announce a block a moment before it serves it, and behind one address several nodes may take turns, some of
 * them late; after these waits the endpoint does not know the block.
 */
const UNKNOWN_RETRY_MS = [40, 120, 300] as const

export async function fetchHeaderByHash(
  endpoint: Endpoint,
  hash: Hex,
  signal: AbortSignal,
): Promise<ListedHeader> {
  const check = (received: Head): void => {
    if (received.hash !== hash) throw new FieldError(`asked for block ${hash}, received ${received.hash}`)
  }
  const fetch = () => fetchHeader(endpoint, 'eth_getBlockByHash', hash, signal, check)
  const header = await fetchKnown(fetch, signal)
  if (header === null) throw unknown(endpoint, hash)
  return header
}

export async function fetchHeaderByNumber(
  endpoint: Endpoint,
  number: number,
  signal: AbortSignal,
): Promise<ListedHeader> {
  const asked = `0x${number.toString(16)}`
  const check = (received: Head): void => {
    if (received.number !== number)
      throw new FieldError(`asked for block ${number}, received block ${received.number}`)
  }
  const fetch = () => fetchHeader(endpoint, 'eth_getBlockByNumber', asked, signal, check)
  const header = await fetchKnown(fetch, signal)
  if (header === null) throw unknown(endpoint, `${number}`)
  return header
}

/** Null where the tag names no block, as `finalized` on a young chain. */
export async function fetchHeaderByTag(
  endpoint: Endpoint,
  tag: BlockTag,
  signal: AbortSignal,
): Promise<ListedHeader | null> {
  return fetchHeader(endpoint, 'eth_getBlockByNumber', tag, signal, () => {})
}

/** A pushed head, and its whole header where the fields that were pushed give its hash. */
export function decodePushed(
  { name, capabilities }: Pick<Endpoint, 'name' | 'capabilities'>,
  value: unknown,
): Head | Header {
  const fields = decodeAnswer(name, 'a head', () => toFields(value))
  const head = decodeAnswer(name, 'a head', () => headOf(fields))
  try {
    const header = headerOf(fields, head, capabilities)
    return header.isOwnHash ? header : head
  } catch (error) {
    // Some providers push fewer fields than a header has; the header is fetched then.
    if (error instanceof FieldError) return head
    throw error
  }
}

/** The header of a head that came with all its fields and whose fields give its hash: nobody can have made it up. */
export const provenHeader = (head: Head | Header): Header | null =>
  'isOwnHash' in head && head.isOwnHash ? head : null

/** Answers null, for a bounded while, as long as the node does not have it yet. */
export async function fetchKnown<Result>(
  fetch: () => Promise<Result | null>,
  signal: AbortSignal,
): Promise<Result | null> {
  for (const waitMs of UNKNOWN_RETRY_MS) {
    const result = await fetch()
    if (result !== null) return result
    await pause(waitMs, signal)
    signal.throwIfAborted()
  }
  return fetch()
}

export const refused = (endpoint: Endpoint, sentence: string): FeedError =>
  new FeedError('BLOCK_REFUSED', endpoint.name, sentence)

export const unknown = (endpoint: Endpoint, block: string): FeedError =>
  new FeedError('BLOCK_UNKNOWN', endpoint.name, `it does not know block ${block}`)

async function fetchHeader(
  endpoint: Endpoint,
  method: string,
  asked: string,
  signal: AbortSignal,
  check: (received: Head) => void,
): Promise<ListedHeader | null> {
  const answer = await endpoint.request(method, [asked, false], signal)
  if (answer === null) return null
  return decodeAnswer(endpoint.name, 'a block', () => {
    const fields = toFields(answer)
    check(headOf(fields))
    return decodeHeader(fields, endpoint.capabilities)
  })
}

/** Throws a FieldError. */
export function decodeHeader(fields: Fields, rules: Pick<ProofRules, 'header'>): ListedHeader {
  const transactions = toList(fields, 'transactions').map(hash => hexOf(hash, 'transactions', 32))
  return { ...headerOf(fields, headOf(fields), rules), transactions }
}

function headerOf(fields: Fields, head: Head, rules: Pick<ProofRules, 'header'>): Header {
  return {
    ...head,
    receiptsRoot: toHash(fields, 'receiptsRoot'),
    logsBloom: toHex(fields, 'logsBloom', 256),
    transactions: null,
    ...proveHeader(fields, head.hash, rules),
  }
}

function headOf(fields: Fields): Head {
  const timeMs = toCount(fields, 'timestamp') * 1000
  if (!Number.isSafeInteger(timeMs)) throw new FieldError('timestamp is not a time')
  return {
    number: toCount(fields, 'number'),
    hash: toHash(fields, 'hash'),
    parentHash: toHash(fields, 'parentHash'),
    timeMs,
  }
}
