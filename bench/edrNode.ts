#!/usr/bin/env node
/**
 * A node that runs natively where the registry has no anvil: EDR, the engine under Hardhat, behind plain HTTP. It
 * accepts the anvil flags and `anvil_` methods needed by a bench that trades and then reads, so that it can replace
 * anvil. EDR is not a dependency: `ASSAY_EDR` names a folder where it is installed.
 *
 * EDR's answers are passed on unchanged. Receipts of a block, which EDR provides only per transaction, are combined
 * here.
 */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { DEV_ACCOUNT } from '@assay/world'

type Call = { readonly id: unknown; readonly method: string; readonly params?: readonly unknown[] }
/** A long answer is not text. */
type Answer = { readonly data: unknown }
type Provider = { handleRequest(request: string): Promise<Answer> }

const HASH_CHARACTERS = 66
const BALANCE_WEI = 10n ** 24n
/** Methods that EDR does not need. */
const NEEDLESS: ReadonlySet<string> = new Set(['anvil_setBlockTimestampInterval'])

const { values: flags } = parseArgs({
  strict: false,
  options: {
    'chain-id': { type: 'string' },
    port: { type: 'string' },
    timestamp: { type: 'string' },
    'gas-limit': { type: 'string' },
  },
})
const provider = await openProvider()
await ask('hardhat_impersonateAccount', [DEV_ACCOUNT])
const server = createServer((request, response) => {
  answer(request).then(
    body => response.setHeader('content-type', 'application/json').end(body, 'latin1'),
    (error: unknown) => response.destroy(error as Error),
  )
})
server.listen(Number(flags['port'] ?? 0), '127.0.0.1', () =>
  console.log(`Listening on 127.0.0.1:${(server.address() as AddressInfo).port}`),
)

async function openProvider(): Promise<Provider> {
  const folder = process.env['ASSAY_EDR']
  if (folder === undefined) throw new Error('ASSAY_EDR must name a folder with @nomicfoundation/edr in it')
  const edr = createRequire(join(folder, 'package.json'))('@nomicfoundation/edr')
  const context = new edr.EdrContext()
  await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory())
  const hardfork = edr.CANCUN
  const [chainId, gasLimit] = [BigInt(`${flags['chain-id']}`), BigInt(`${flags['gas-limit']}`)]
  const config = {
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: true,
    bailOnCallFailure: true,
    bailOnTransactionFailure: true,
    chainId,
    coinbase: Buffer.alloc(20),
    defaultTransactionGasLimit: gasLimit,
    genesisState: [
      { address: Buffer.from(DEV_ACCOUNT.slice(2), 'hex'), balance: BALANCE_WEI },
      ...edr.l1GenesisState(edr.l1HardforkFromString(hardfork)),
    ],
    hardfork,
    initialBaseFeePerGas: 0n,
    minGasPrice: 0n,
    mining: { autoMine: true, blockGasLimit: gasLimit, memPool: { order: 'Fifo' } },
    network: { genesisBlockGasLimit: gasLimit, genesisBlockTime: BigInt(`${flags['timestamp']}`) },
    networkId: chainId,
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  }
  const logger = {
    enable: false,
    decodeConsoleLogInputsCallback: () => [],
    printLineCallback: () => undefined,
  }
  const subscriptions = { subscriptionCallback: () => undefined }
  return context.createProvider(edr.L1_CHAIN_TYPE, config, logger, subscriptions, new edr.ContractDecoder())
}

async function answer(request: AsyncIterable<Uint8Array>): Promise<string> {
  const asked = JSON.parse(await text(request)) as Call | readonly Call[]
  if (!Array.isArray(asked)) return answerOne(asked as Call)
  const answers: string[] = []
  for (const call of asked as readonly Call[]) answers.push(await answerOne(call))
  return `[${answers.join()}]`
}

async function answerOne({ id, method, params = [] }: Call): Promise<string> {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
  if (NEEDLESS.has(method)) return `${head}"result":true}`
  if (method === 'eth_getBlockReceipts') return `${head}"result":${await blockReceipts(params[0] as string)}}`
  return head + (await ask(method.replace(/^anvil_/, 'hardhat_'), params)).slice(1)
}

async function blockReceipts(block: string): Promise<string> {
  const method = block.length === HASH_CHARACTERS ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const { result } = JSON.parse(await ask(method, [block, false])) as {
    readonly result: { readonly transactions: readonly string[] } | null
  }
  if (result === null) return 'null'
  const receipts: string[] = []
  for (const hash of result.transactions) {
    const said = await ask('eth_getTransactionReceipt', [hash])
    receipts.push(said.slice(said.indexOf('"result":') + '"result":'.length, -1))
  }
  return `[${receipts.join()}]`
}

/** As text: an object that begins with its result or its error. */
async function ask(method: string, params: readonly unknown[]): Promise<string> {
  const { data } = await provider.handleRequest(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }))
  return typeof data === 'string' ? data : JSON.stringify(data)
}
