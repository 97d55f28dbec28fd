/** The published v4 manager in tests: its logs as events, the fields of a pool that begins there, and V4Quoter. */
import { type Client, creationCode, deploy, v4ManagerAbi, type V4Pool } from '@assay/world'
import { createRequire } from 'node:module'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import type { Side } from '../amm/states.ts'
import * as tickBook from '../amm/tickBook.ts'
import type { V4Event, V4State, V4Terms } from '../amm/v4/kind.ts'
import { tick as toTick } from '../units.ts'

/** Before its Initialize. */
export const UNBORN: V4State = {
  family: 'amm_v4',
  sqrtPriceX96: 0n,
  tick: toTick(0),
  liquidity: 0n,
  lpFeePpm: 0n,
  protocolFee: 0n,
}

export function v4TermsOf(fee: number, tickSpacing: number, hooks: Address = zeroAddress): V4Terms {
  const spacing = toTick(tickSpacing)
  return {
    family: 'amm_v4',
    keyFee: BigInt(fee),
    tickSpacing: spacing,
    hooks,
    isNative: false,
    manager: zeroAddress,
    book: tickBook.fromLoaded(spacing, null),
  }
}

/** The logs of one pool; those of other contracts and of the manager's other pools are left out. */
export function v4EventsOf({ manager, id }: V4Pool, logs: TransactionReceipt['logs']): V4Event[] {
  const own = logs.filter(
    ({ address, topics }) => address.toLowerCase() === manager.toLowerCase() && topics[1] === id,
  )
  return parseEventLogs({ abi: v4ManagerAbi, logs: own }).map((log): V4Event => {
    switch (log.eventName) {
      case 'Initialize':
        return { kind: 'INITIALIZE', sqrtPriceX96: log.args.sqrtPriceX96, tick: toTick(log.args.tick) }
      case 'ModifyLiquidity': {
        const { tickLower, tickUpper, liquidityDelta } = log.args
        return { kind: 'MODIFY', tickLower: toTick(tickLower), tickUpper: toTick(tickUpper), liquidityDelta }
      }
      case 'Swap': {
        const { amount0, amount1, sqrtPriceX96, liquidity, tick, fee } = log.args
        const amounts = { amount0: 0n - amount0, amount1: 0n - amount1 }
        return { kind: 'SWAP', ...amounts, sqrtPriceX96, liquidity, tick: toTick(tick), feePpm: BigInt(fee) }
      }
      case 'ProtocolFeeUpdated':
        return { kind: 'PROTOCOL_FEE', protocolFee: BigInt(log.args.protocolFee) }
    }
  })
}

export function deployV4Quoter(client: Client, manager: Address): Promise<Address> {
  const artifact: { readonly bytecode: { readonly object: string } } = createRequire(import.meta.url)(
    '@uniswap/v4-periphery/foundry-out/V4Quoter.sol/V4Quoter.json',
  )
  const code = creationCode({ bytecode: artifact.bytecode.object })
  return deploy(client, concatHex([code, encodeAbiParameters(parseAbiParameters('address'), [manager])]))
}

const quoterAbi = parseAbi([
  'struct V4PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'struct QuoteParams { V4PoolKey poolKey; bool zeroForOne; uint128 exactAmount; bytes hookData; }',
  'function quoteExactInputSingle(QuoteParams params) returns (uint256 amountOut, uint256 gasEstimate)',
  'function quoteExactOutputSingle(QuoteParams params) returns (uint256 amountIn, uint256 gasEstimate)',
])
const FUNCTION = { EXACT_IN: 'quoteExactInputSingle', EXACT_OUT: 'quoteExactOutputSingle' } as const

/** The output of this exact input of token `side`, or the input for an exact output; the hook is called as in a swap. */
export async function quotedBy(
  client: Client,
  quoter: Address,
  { key }: V4Pool,
  side: Side,
  { kind, amount }: { readonly kind: keyof typeof FUNCTION; readonly amount: bigint },
  gas: bigint,
): Promise<bigint> {
  const { result } = await client.simulateContract({
    address: quoter,
    abi: quoterAbi,
    functionName: FUNCTION[kind],
    args: [{ poolKey: key, zeroForOne: side === 0, exactAmount: amount, hookData: '0x' }],
    gas,
  })
  return result[0]
}
