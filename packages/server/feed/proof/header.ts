/**
 * Block headers from an endpoint, checked against the request: the hash is the requested one, and a parent is one block
 * below its child. Where we know the chain's header encoding, the fields must give that hash, so a header cannot be
 * invented.
 */
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
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
import { pause } from '../conditionVariable.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { BlockRef } from '../feed.ts'
import { FeedError } from '../feedError.ts'
import { type HeaderProof, proveHeader } from './headerHash.ts'

/** An announced head. */
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
 * A node may announce a block a moment before it can serve it, and several nodes, some of them late, may share one
 * address. After these waits the endpoint counts as not knowing the block.
 */
const UNKNOWN_RETRY_MS = [40, 120, 300] as const

export async function fetchHeaderByHash(
  endpoint: Endpoint,
  hash: Hex,
  signal: AbortSignal,
): Promise<ListedHeader> {
  const check = (received: Head): void => {
    if (received.hash !== hash) throw new FieldError(`requested block ${hash}, received ${received.hash}`)
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
      throw new FieldError(`requested block ${number}, received block ${received.number}`)
  }
  const fetch = () => fetchHeader(endpoint, 'eth_getBlockByNumber', asked, signal, check)
  const header = await fetchKnown(fetch, signal)
  if (header === null) throw unknown(endpoint, `${number}`)
  return header
}

/** Null when the tag names no block, like `finalized` on a young chain. */
export async function fetchHeaderByTag(
  endpoint: Endpoint,
  tag: BlockTag,
  signal: AbortSignal,
): Promise<ListedHeader | null> {
  return fetchHeader(endpoint, 'eth_getBlockByNumber', tag, signal, () => {})
}

/** A pushed head, with its whole header when the pushed fields give its hash. */
export function decodePushed(
  { name, proofRules }: Pick<Endpoint, 'name' | 'proofRules'>,
  value: unknown,
): Head | Header {
  const fields = decodeAnswer(name, 'a head', () => toFields(value))
  const head = decodeAnswer(name, 'a head', () => headOf(fields))
  try {
    const header = headerOf(fields, head, proofRules)
    return header.isOwnHash ? header : head
  } catch (error) {
    // Some providers push an incomplete header; it is fetched then.
    if (error instanceof FieldError) return head
    throw error
  }
}

/**
 * The header of a head that was pushed with all its fields, provided that they give its hash: such a header cannot be
 * forged.
 */
export const provenHeader = (head: Head | Header): Header | null =>
  'isOwnHash' in head && head.isOwnHash ? head : null

/** Retries a null answer for a limited time, because the node may not have the block yet. */
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
    return decodeHeader(fields, endpoint.proofRules)
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
