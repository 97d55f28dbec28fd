/**
 * Checks which chain an endpoint serves: its chain id, its first block and, if configured, a later block. Neither id
 * nor genesis is enough alone: some chains share a genesis with their test network, others share both with a fork.
 */
import assert from 'node:assert/strict'
import type { Hex } from '../../ops/hex.ts'
import { decodeAnswer, toCount, toFields, toHash } from '../answers/answer.ts'
import type { Connection } from '../transport/connection.ts'
import { FeedError } from '../feedError.ts'
import { hedged } from './hedge.ts'

export type Identity = {
  readonly chainId: number
  readonly genesisHash: Hex
  readonly checkpoint?: { readonly number: number; readonly hash: Hex } | undefined
}

/** Some endpoints lose one call in ten: each call is repeated after a second without an answer, up to a limit. */
const AGAIN_MS = 1000
const MOST_TRIES = 4

/** Throws ENDPOINT_IDENTITY with the expected and the received value. */
export async function checkIdentity(
  connection: Pick<Connection, 'call'>,
  name: string,
  expected: Identity,
  signal: AbortSignal,
): Promise<void> {
  const [chainIdAnswer, genesisAnswer] = await Promise.all([
    ask(connection, 'eth_chainId', [], signal),
    fetchGenesis(connection, signal),
  ])
  const decode = () => ({
    chainId: toCount({ chainId: chainIdAnswer }, 'chainId'),
    genesisHash: genesisAnswer === null ? null : toHash(toFields(genesisAnswer), 'hash'),
  })
  const received = decodeAnswer(name, 'its identity', decode, 'ANSWER_MALFORMED')
  const isRight =
    received.chainId === expected.chainId && received.genesisHash === expected.genesisHash.toLowerCase()
  if (isRight) return checkCheckpoint(connection, name, expected.checkpoint, signal)
  throw new FeedError(
    'ENDPOINT_IDENTITY',
    name,
    `expected chain ${expected.chainId} with genesis ${expected.genesisHash}, ` +
      `received chain ${received.chainId} with ${describe(received.genesisHash)}`,
  )
}

/** A node that is still syncing may get the block later; one with a different block there never will. */
async function checkCheckpoint(
  connection: Pick<Connection, 'call'>,
  name: string,
  checkpoint: Identity['checkpoint'],
  signal: AbortSignal,
): Promise<void> {
  if (checkpoint === undefined) return
  const { number, hash } = checkpoint
  const answer = await ask(connection, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false], signal)
  if (answer === null)
    throw new FeedError('ENDPOINT_BEHIND', name, `it does not have the pinned block ${number} yet`)
  const read = (): Hex => toHash(toFields(answer), 'hash')
  const received = decodeAnswer(name, 'the pinned block', read, 'ANSWER_MALFORMED')
  if (received === hash.toLowerCase()) return
  throw new FeedError(
    'ENDPOINT_IDENTITY',
    name,
    `expected block ${number} to be ${hash}, received ${received}`,
  )
}

const describe = (hash: Hex | null): string => (hash === null ? 'no first block' : `genesis ${hash}`)

/** A local chain may be numbered from a higher block; the hash decides in either case. */
async function fetchGenesis(connection: Pick<Connection, 'call'>, signal: AbortSignal): Promise<unknown> {
  const zero = await ask(connection, 'eth_getBlockByNumber', ['0x0', false], signal)
  return zero ?? (await ask(connection, 'eth_getBlockByNumber', ['earliest', false], signal))
}

/** Repeats the call while there is no answer, because every other call to the endpoint waits for this one. */
async function ask(
  connection: Pick<Connection, 'call'>,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  let left = MOST_TRIES
  const answer = await hedged({
    next: isRetry => (isRetry || left-- === 0 ? null : until => connection.call(method, params, until)),
    waitMs: () => AGAIN_MS,
    onFailure: error => {
      throw error
    },
    signal,
  })
  assert(answer !== null, 'a failure is thrown')
  return answer.result
}
