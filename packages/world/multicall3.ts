/** Multicall3, which combines many calls into one, at the address it has on nearly every chain. */
import type { Address } from 'viem'
import { multicall3Code } from './published.ts'

export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

/**
 * Available from the next block on. Sends no transaction and makes no block, so it can be added to a chain of any
 * age.
 */
export async function putMulticall3(ask: Ask): Promise<void> {
  const code = await ask('eth_call', { data: multicall3Code() }, 'latest')
  await ask('anvil_setCode', MULTICALL3, code)
}
