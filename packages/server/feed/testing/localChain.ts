/** One anvil node for tests of the feed: mining, forks and transactions by plain JSON-RPC, without our client. */
import { type Anvil, type AnvilOptions, startAnvil } from '../../../world/anvil.ts'
import type { ChainConfig } from '../../config/config.ts'
import { bareChain } from '../../config/testing/bareConfig.ts'
import type { Hex } from '../../ops/hex.ts'
import { Secret } from '../../ops/secret.ts'

export type LocalChain = {
  readonly anvil: Anvil
  readonly rpc: <Result = unknown>(method: string, ...params: readonly unknown[]) => Promise<Result>
  /** Many questions of one kind in one request, answered in the order asked. */
  readonly batch: <Result>(
    method: string,
    params: readonly (readonly unknown[])[],
  ) => Promise<readonly Result[]>
  readonly config: (overrides?: Partial<ChainConfig>) => ChainConfig
  readonly close: () => Promise<void>
}

export type RpcBlock = {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex
}

const DEV_ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const ZERO: Hex = `0x${'00'.repeat(20)}`

/**
 * Emits LOG0 and LOG1 with the word 42 as data, and LOG4 with five bytes of zeros, on every call. By hand:
 * mstore(0, 42); log0(0, 32); log1(0, 32, 0xaa); log4(0, 5, 1, 2, 3, 4); stop
 */
const LOGGER_CODE = '0x602a60005260206000a060aa60206000a1600460036002600160056000a400'
const REVERTER_CODE = '0x60006000fd'
export const LOGGER: Hex = `0x${'10'.repeat(20)}`
export const REVERTER: Hex = `0x${'20'.repeat(20)}`

export async function startLocalChain(options: Partial<AnvilOptions> = {}): Promise<LocalChain> {
  // By fee, anvil would put a later nonce first and then drop it.
  const flags = ['--order', 'fifo']
  const anvil = await startAnvil({ chainId: 31_337, slotsInAnEpoch: 1000, flags, ...options })
  const rpc = createRpc(anvil.url)
  const genesis = await rpc<RpcBlock>('eth_getBlockByNumber', 'earliest', false)
  await rpc('anvil_setCode', LOGGER, LOGGER_CODE)
  await rpc('anvil_setCode', REVERTER, REVERTER_CODE)
  return {
    anvil,
    rpc,
    batch: createBatch(anvil.url),
    config: overrides =>
      bareChain({
        chainId: anvil.chainId,
        name: 'Local',
        endpoints: [{ name: 'own-node', url: new Secret(anvil.url) }],
        genesisHash: genesis.hash,
        // Polled every 100 ms.
        blockTimeMs: 200,
        ...overrides,
      }),
    close: () => anvil.close(),
  }
}

type RpcAnswer<Result> = {
  readonly id: number
  readonly result: Result
  readonly error?: { readonly message: string }
}

export function createRpc(url: string): LocalChain['rpc'] {
  return async <Result>(method: string, ...params: readonly unknown[]): Promise<Result> => {
    const answer = await post<RpcAnswer<Result>>(url, { jsonrpc: '2.0', id: 1, method, params })
    return resultOf(method, answer)
  }
}

function createBatch(url: string): LocalChain['batch'] {
  return async <Result>(method: string, params: readonly (readonly unknown[])[]) => {
    const calls = params.map((each, id) => ({ jsonrpc: '2.0', id, method, params: each }))
    const answers = await post<readonly RpcAnswer<Result>[]>(url, calls)
    const inOrder = [...answers].sort((a, b) => a.id - b.id)
    if (inOrder.length !== calls.length || inOrder.some(({ id }, at) => id !== at))
      throw new Error(`${method}: ${calls.length} calls, ${answers.length} answers`)
    return inOrder.map(answer => resultOf(method, answer))
  }
}

async function post<Answer>(url: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Answer
}

function resultOf<Result>(method: string, { result, error }: RpcAnswer<Result>): Result {
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

export const mine = (chain: LocalChain, blocks = 1): Promise<unknown> =>
  chain.rpc('anvil_mine', `0x${blocks.toString(16)}`)

/** Replaces the last blocks by as many empty ones. */
export async function reorg(chain: LocalChain, depth: number): Promise<void> {
  // With the same miner an empty block made within the same second has the same hash.
  await chain.rpc('anvil_setCoinbase', `0x${(await latest(chain)).hash.slice(-40)}`)
  await chain.rpc('anvil_reorg', depth, [])
}

export const latest = (chain: LocalChain): Promise<RpcBlock> =>
  chain.rpc('eth_getBlockByNumber', 'latest', false)

export const blockAt = (chain: LocalChain, number: number): Promise<RpcBlock> =>
  chain.rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, false)

/** A transaction of every kind a receipt is encoded differently for, and one that fails. */
export const EVERY_KIND = [
  { to: LOGGER },
  { to: LOGGER, type: '0x0', gasPrice: '0x77359400' },
  { to: REVERTER },
  { to: LOGGER, type: '0x1', gasPrice: '0x77359400', accessList: [{ address: LOGGER, storageKeys: [] }] },
  { to: ZERO, value: '0x1' },
] as const

/** One block with these transactions, in this order. */
export async function mineTransactions(
  chain: LocalChain,
  transactions: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  await chain.rpc('evm_setAutomine', false)
  for (const transaction of transactions)
    await chain.rpc('eth_sendTransaction', { from: DEV_ACCOUNT, gas: '0x30d40', ...transaction })
  await chain.rpc('evm_mine')
  await chain.rpc('evm_setAutomine', true)
}
