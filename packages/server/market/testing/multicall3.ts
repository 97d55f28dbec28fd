/** Puts Multicall3 on a test node, at its address and in a block of its own. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Hex } from '../../ops/config.ts'
import { until } from '../../service/testing/until.ts'
import { MULTICALL3 } from '../multicall.ts'

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

export async function putMulticall3(ask: Ask): Promise<void> {
  const [from] = (await ask('eth_accounts')) as Hex[]
  const sent = await ask('eth_sendTransaction', { from, data: await creationCode(), gas: '0x4c4b40' })
  await ask('anvil_mine', '0x1')
  const { contractAddress } = await until(
    'the receipt of Multicall3',
    async () => (await ask('eth_getTransactionReceipt', sent)) as { readonly contractAddress: Hex } | null,
  )
  await ask('anvil_setCode', MULTICALL3, await ask('eth_getCode', contractAddress, 'latest'))
  await ask('anvil_mine', '0x1')
}

/** viem has it, but not among its exports. */
async function creationCode(): Promise<Hex> {
  const folder = dirname(createRequire(import.meta.url).resolve('viem/package.json'))
  const file = pathToFileURL(join(folder, '_esm/constants/contracts.js')).href
  return ((await import(file)) as { multicall3Bytecode: Hex }).multicall3Bytecode
}
