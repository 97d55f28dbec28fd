/**
 * Three ways to put published bytecode on a local chain, so that pools get the addresses they have in the
 * wild: CREATE2 depends on the factory's address, the tokens and the init code, and on nothing else.
 */
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import { type Client, DEV_ACCOUNT, send } from './client.ts'
import { priceFeedAbi, proxiedTokenAbi, testTokenAbi, tokenProxyAbi } from './contracts/abi.ts'
import priceFeed from './contracts/PriceFeed.json' with { type: 'json' }
import proxiedToken from './contracts/ProxiedToken.json' with { type: 'json' }
import testToken from './contracts/TestToken.json' with { type: 'json' }
import tokenProxy from './contracts/TokenProxy.json' with { type: 'json' }
import trader from './contracts/Trader.json' with { type: 'json' }

/** The account that created a contract, and its nonce at that time: together they determine the contract's address. */
export type Origin = { readonly deployer: Address; readonly nonce: number }

/** Where a contract goes: at the address given by its origin, at a chosen address, or anywhere. */
export type Site = Origin | Address | 'anywhere'

/** Runs init code so that its contract ends up at `site`; `from` is the account that appears to run it. */
export async function deploy(
  client: Client,
  initCode: Hex,
  site: Site = 'anywhere',
  from: Address = DEV_ACCOUNT,
): Promise<Address> {
  if (site === 'anywhere') return create(client, initCode, from)
  if (typeof site === 'string') return constructAt(client, initCode, site, from)
  await client.setNonce({ address: site.deployer, nonce: site.nonce })
  return create(client, initCode, site.deployer)
}

export function addressOf(origin: Origin): Address {
  return getContractAddress({ from: origin.deployer, nonce: BigInt(origin.nonce) })
}

export function deployToken(
  client: Client,
  token: { readonly symbol: string; readonly decimals: number },
  site: Site = 'anywhere',
): Promise<Address> {
  const args = [token.symbol, token.decimals] as const
  return deploy(
    client,
    encodeDeployData({ abi: testTokenAbi, bytecode: testToken.bytecode as Hex, args }),
    site,
  )
}

/** The same token behind a proxy: its code, decimals included, can be replaced. */
export async function deployProxiedToken(
  client: Client,
  token: { readonly symbol: string; readonly decimals: number },
  site: Site = 'anywhere',
): Promise<Address> {
  const args = [await deployImplementation(client, token.decimals)] as const
  const proxy = await deploy(
    client,
    encodeDeployData({ abi: tokenProxyAbi, bytecode: tokenProxy.bytecode as Hex, args }),
    site,
  )
  await send(client, {
    to: proxy,
    data: encodeFunctionData({ abi: proxiedTokenAbi, functionName: 'setSymbol', args: [token.symbol] }),
  })
  return proxy
}

/** An implementation to which a proxied token can be upgraded. */
export function deployImplementation(client: Client, decimals: number): Promise<Address> {
  const args = [decimals] as const
  return deploy(
    client,
    encodeDeployData({ abi: proxiedTokenAbi, bytecode: proxiedToken.bytecode as Hex, args }),
  )
}

export function deployPriceFeed(
  client: Client,
  feed: { readonly description: string; readonly decimals: number },
  site: Site = 'anywhere',
): Promise<Address> {
  const args = [feed.description, feed.decimals] as const
  return deploy(
    client,
    encodeDeployData({ abi: priceFeedAbi, bytecode: priceFeed.bytecode as Hex, args }),
    site,
  )
}

export function deployTrader(client: Client, site: Site = 'anywhere'): Promise<Address> {
  return deploy(client, trader.bytecode as Hex, site)
}

async function create(client: Client, initCode: Hex, from: Address): Promise<Address> {
  const receipt = await send(client, { from, data: initCode })
  const address = receipt.contractAddress
  if (address === null || address === undefined) throw new Error('anvil gave a creation no contract address')
  return address
}

/**
 * Runs the constructor as the code of `address` itself, then replaces it with the code it returns. Storage, logs and
 * immutables, including the v3 factory's own address, are the same as after a creation there.
 */
async function constructAt(client: Client, initCode: Hex, address: Address, from: Address): Promise<Address> {
  await client.setCode({ address, bytecode: initCode })
  const { data: runtimeCode } = await client.call({ account: from, to: address })
  if (runtimeCode === undefined) throw new Error(`the constructor run at ${address} returned no code`)
  await send(client, { from, to: address })
  await client.setCode({ address, bytecode: runtimeCode })
  // EIP-161: a contract starts at nonce 1.
  await client.setNonce({ address, nonce: 1 })
  return address
}
