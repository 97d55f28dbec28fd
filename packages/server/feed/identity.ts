/**
 * Which chain an endpoint serves: its chain id, its first block and, where one is pinned, a later block. Neither is
 * enough alone: some chains share a genesis with their test network, others both with a fork.
 */
import type { Hex } from '../ops/config.ts'
import { decodeAnswer, toCount, toFields, toHash } from './answer.ts'
import type { Connection } from './connection.ts'
import { FeedError } from './feedError.ts'

export type Identity = {
  readonly chainId: number
  readonly genesisHash: Hex
  readonly checkpoint?: { readonly number: number; readonly hash: Hex } | undefined
}

/** Throws ENDPOINT_IDENTITY with what was expected and what was received. */
export async function checkIdentity(
  connection: Pick<Connection, 'call'>,
  name: string,
  expected: Identity,
  signal: AbortSignal,
): Promise<void> {
  const [chainIdAnswer, genesisAnswer] = await Promise.all([
    connection.call('eth_chainId', [], signal),
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

/** A node that is not there yet may come to have it; one that has another block there never does. */
async function checkCheckpoint(
  connection: Pick<Connection, 'call'>,
  name: string,
  checkpoint: Identity['checkpoint'],
  signal: AbortSignal,
): Promise<void> {
  if (checkpoint === undefined) return
  const { number, hash } = checkpoint
  const answer = await connection.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false], signal)
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
  const zero = await connection.call('eth_getBlockByNumber', ['0x0', false], signal)
  return zero ?? (await connection.call('eth_getBlockByNumber', ['earliest', false], signal))
}
