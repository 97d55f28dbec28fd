/** Uniswap's own router over a v4 manager, as its repository's tests build it: it pays, swaps and takes step by step. */
import { createRequire } from 'node:module'
import { type Client, creationCode, deploy, send, type V4PoolKey } from '@assay/world'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'

export type RouterStep =
  /** The amount leaves the sender, or the router itself. */
  | {
      readonly do: 'SETTLE'
      readonly currency: Address
      readonly amount: bigint
      readonly isFromSender: boolean
    }
  /** Sells what has been settled or bought before. */
  | { readonly do: 'SWAP'; readonly key: V4PoolKey; readonly zeroForOne: boolean }
  /** All that is left. */
  | { readonly do: 'TAKE'; readonly currency: Address; readonly to: Address }
  | { readonly do: 'TAKE_PORTION'; readonly currency: Address; readonly to: Address; readonly bps: bigint }

/** Numbers of the router's actions. */
const ACTION = { SWAP: '0x06', SETTLE: '0x0b', TAKE: '0x0e', TAKE_PORTION: '0x10' } as const
/** As an amount: all that is owed. */
const ALL = 0n

const abi = parseAbi(['function executeActions(bytes params) payable'])
const SWAP = parseAbiParameters([
  '(PoolKey poolKey, bool zeroForOne, uint128 amountIn, uint128 amountOutMinimum, bytes hookData) swap',
  'struct PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
])
const TAKE = parseAbiParameters('address, address, uint256')

export function deployV4Router(client: Client, manager: Address): Promise<Address> {
  const { bytecode } = createRequire(import.meta.url)(
    '@uniswap/v4-periphery/foundry-out/MockV4Router.sol/MockV4Router.json',
  ) as { readonly bytecode: { readonly object: unknown } }
  const argument = encodeAbiParameters(parseAbiParameters('address'), [manager])
  return deploy(client, concatHex([creationCode({ bytecode: bytecode.object }), argument]))
}

/** All steps in one transaction. */
export function route(client: Client, router: Address, steps: readonly RouterStep[]) {
  const actions = concatHex(steps.map(step => ACTION[step.do]))
  const params = encodeAbiParameters(parseAbiParameters('bytes, bytes[]'), [actions, steps.map(parametersOf)])
  return send(client, {
    to: router,
    data: encodeFunctionData({ abi, functionName: 'executeActions', args: [params] }),
  })
}

function parametersOf(step: RouterStep): Hex {
  switch (step.do) {
    case 'SETTLE':
      return encodeAbiParameters(parseAbiParameters('address, uint256, bool'), [
        step.currency,
        step.amount,
        step.isFromSender,
      ])
    case 'SWAP': {
      const { key: poolKey, zeroForOne } = step
      const swap = { poolKey, zeroForOne, amountIn: ALL, amountOutMinimum: 0n, hookData: '0x' } as const
      return encodeAbiParameters(SWAP, [swap])
    }
    case 'TAKE':
      return encodeAbiParameters(TAKE, [step.currency, step.to, ALL])
    case 'TAKE_PORTION':
      return encodeAbiParameters(TAKE, [step.currency, step.to, step.bps])
  }
}
