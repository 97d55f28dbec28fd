/** Odd tokens on a local chain, each with a market: what a probe of sellability is tried on. */
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

/** Tells the token which contracts are pools, and spares who adds liquidity until `spare` is someone else. */
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

/** What the owner of some of them may do later. */
export async function turn(client: Client, token: Address): Promise<void> {
  await send(client, { to: token, data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'turn' }) })
}

/** All balances of a rebasing token become so many times what was minted and sent; no pool is told. */
export async function rebase(client: Client, token: Address, times: number): Promise<void> {
  const args = [BigInt(Math.round(times * 100))] as const
  await send(client, {
    to: token,
    data: encodeFunctionData({ abi: oddTokenAbi, functionName: 'rebase', args }),
  })
}
