/** Odd tokens on a local chain, each with a market: test cases for the sellability probe. */
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { type Client, send } from './client.ts'
import { oddTokenAbi } from './contracts/abi.ts'
import odd from './contracts/OddTokens.json' with { type: 'json' }
import { deploy, type Site } from './deploy.ts'

export type OddTokenName = keyof typeof odd.bytecodes

export const ODD_TOKENS = Object.keys(odd.bytecodes) as readonly OddTokenName[]

export const deployOddToken = (
  client: Client,
  name: OddTokenName,
  site: Site = 'anywhere',
): Promise<Address> => deploy(client, odd.bytecodes[name] as Hex, site)

/** Registers the pools with the token, and exempts the liquidity provider until `spare` is another account. */
export async function introduce(
  client: Client,
  token: Address,
  { pools, exempt }: { readonly pools: readonly Address[]; readonly exempt: readonly Address[] },
): Promise<void> {
  for (const pool of pools)
    await send(client, {
      to: token,
      data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'setPool', args: [pool] }),
    })
  for (const account of exempt)
    await send(client, {
      to: token,
      data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'setExempt', args: [account] }),
    })
}

/** The later action of the owner, for some of the tokens. */
export async function turn(client: Client, token: Address): Promise<void> {
  await send(client, { to: token, data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'turn' }) })
}

/** Multiplies all balances of a rebasing token; no pool is notified. */
export async function rebase(client: Client, token: Address, times: number): Promise<void> {
  const args = [BigInt(Math.round(times * 100))] as const
  await send(client, {
    to: token,
    data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'rebase', args }),
  })
}
