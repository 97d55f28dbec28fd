/**
 * Which chain an endpoint serves: its chain id and its first block. Neither is enough alone: some chains
 * share a genesis with their test network, others a chain id with a fork.
 */
import type { Hex } from '../ops/config.ts'
import { decodeAnswer, toCount, toFields, toHash } from './answer.ts'
import type { Connection } from './connection.ts'
import { FeedError } from './feedError.ts'

export type Identity = { readonly chainId: number; readonly genesisHash: Hex }

/** Throws ENDPOINT_IDENTITY with what was expected and what was received. */
export async function checkIdentity(
  connection: Connection,
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
  if (isRight) return
  throw new FeedError(
    'ENDPOINT_IDENTITY',
    name,
    `expected chain ${expected.chainId} with genesis ${expected.genesisHash}, ` +
      `received chain ${received.chainId} with ${describe(received.genesisHash)}`,
  )
}

const describe = (hash: Hex | null): string => (hash === null ? 'no first block' : `genesis ${hash}`)

/** A local chain may be numbered from a higher block; the hash decides in either case. */
async function fetchGenesis(connection: Connection, signal: AbortSignal): Promise<unknown> {
  const zero = await connection.call('eth_getBlockByNumber', ['0x0', false], signal)
  return zero ?? (await connection.call('eth_getBlockByNumber', ['earliest', false], signal))
}
