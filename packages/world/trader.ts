/**
 * Calls for the Trader contract, and its batches: many trades in one transaction, each with its own outcome.
 */
import {
  type Address,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { type Call, type Client, send } from './client.ts'
import { testTokenAbi, traderAbi } from './contracts/abi.ts'

export type StepOutcome =
  | { readonly ok: true; readonly logs: TransactionReceipt['logs'] }
  | { readonly ok: false; readonly reason: string }

export type Probe =
  | { readonly ok: true; readonly result: Hex }
  | { readonly ok: false; readonly reason: string }

export const mintV3 = (pool: Address, lower: number, upper: number, liquidity: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'mintV3', args: [pool, lower, upper, liquidity] })

/** Burning and swapping work as on v3. */
export const mintAlgebra = (pool: Address, lower: number, upper: number, liquidity: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'mintAlgebra', args: [pool, lower, upper, liquidity] })

/** Also collects what is owed. */
export const burnV3 = (pool: Address, lower: number, upper: number, liquidity: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'burnV3', args: [pool, lower, upper, liquidity] })

/** A positive amount is exact input, a negative one exact output. A limit of 0 is no limit. */
export const swapV3 = (pool: Address, zeroForOne: boolean, amount: bigint, sqrtPriceLimitX96 = 0n): Hex =>
  encodeFunctionData({
    abi: traderAbi,
    functionName: 'swapV3',
    args: [pool, zeroForOne, amount, sqrtPriceLimitX96],
  })

/** For a pool kept by a v4 manager. */
export type V4PoolKey = {
  readonly currency0: Address
  readonly currency1: Address
  readonly fee: number
  readonly tickSpacing: number
  readonly hooks: Address
}

/** A positive amount is exact input, a negative one exact output. A limit of 0 is no limit. */
export const swapV4 = (
  manager: Address,
  key: V4PoolKey,
  zeroForOne: boolean,
  amount: bigint,
  sqrtPriceLimitX96 = 0n,
): Hex =>
  encodeFunctionData({
    abi: traderAbi,
    functionName: 'swapV4',
    args: [manager, key, zeroForOne, amount, sqrtPriceLimitX96],
  })

/** A negative delta removes liquidity, 0 only collects. */
export const modifyV4 = (
  manager: Address,
  key: V4PoolKey,
  lower: number,
  upper: number,
  delta: bigint,
): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'modifyV4', args: [manager, key, lower, upper, delta] })

export const addV2 = (pair: Address, amount0: bigint, amount1: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'addV2', args: [pair, amount0, amount1] })

export const removeV2 = (pair: Address, liquidity: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'removeV2', args: [pair, liquidity] })

export const donateV2 = (pair: Address, amount0: bigint, amount1: bigint): Hex =>
  encodeFunctionData({ abi: traderAbi, functionName: 'donateV2', args: [pair, amount0, amount1] })

/** Pays and requests exactly this; the pair decides. */
export const swapV2 = (
  pair: Address,
  amounts: { readonly in0?: bigint; readonly in1?: bigint; readonly out0?: bigint; readonly out1?: bigint },
): Hex =>
  encodeFunctionData({
    abi: traderAbi,
    functionName: 'swapV2',
    args: [pair, amounts.in0 ?? 0n, amounts.in1 ?? 0n, amounts.out0 ?? 0n, amounts.out1 ?? 0n],
  })

/** Sells exactly `amountIn`; `fee` is the share of the input that trades. */
export const swapExactInV2 = (
  pair: Address,
  zeroForOne: boolean,
  amountIn: bigint,
  fee: { readonly numerator: bigint; readonly denominator: bigint },
): Hex =>
  encodeFunctionData({
    abi: traderAbi,
    functionName: 'swapExactInV2',
    args: [pair, zeroForOne, amountIn, fee.numerator, fee.denominator],
  })

/** Gives the trader half of a uint256's range: no swap of a v3 pool can require as much. */
export async function fund(client: Client, trader: Address, tokens: readonly Address[]): Promise<void> {
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [trader, 1n << 255n] })
  for (const token of tokens) await send(client, { to: token, data })
}

type Way = (
  client: Client,
  call: Call & { readonly to: Address; readonly gas: bigint },
) => Promise<TransactionReceipt>

/** Runs calls in one transaction, in order; a reverted call changes nothing and does not stop the others. */
export async function batch(
  client: Client,
  trader: Address,
  calls: readonly Hex[],
  gas: bigint,
  through: Way = send,
): Promise<StepOutcome[]> {
  const data = encodeFunctionData({ abi: traderAbi, functionName: 'batch', args: [calls] })
  const { logs } = await through(client, { to: trader, data, gas })
  const outcomes: StepOutcome[] = []
  let own: TransactionReceipt['logs'] = []
  for (const log of logs) {
    const [mark] = isAddressEqual(log.address, trader) ? parseEventLogs({ abi: traderAbi, logs: [log] }) : []
    if (mark === undefined) {
      own.push(log)
      continue
    }
    const failed = mark.eventName === 'StepFailed'
    outcomes.push(failed ? { ok: false, reason: reasonOf(mark.args.reason) } : { ok: true, logs: own })
    own = []
  }
  if (outcomes.length !== calls.length) {
    throw new Error(`a batch of ${calls.length} calls reported ${outcomes.length} steps`)
  }
  return outcomes
}

/** Simulates each call separately on the present state; nothing is written. */
export async function probe(
  client: Client,
  trader: Address,
  calls: readonly Hex[],
  gas: bigint,
): Promise<Probe[]> {
  const { result } = await client.simulateContract({
    address: trader,
    abi: traderAbi,
    functionName: 'probe',
    args: [calls],
    gas,
  })
  const [oks, results] = result
  return results.map((data, index) =>
    oks[index] === true ? { ok: true, result: data } : { ok: false, reason: reasonOf(data) },
  )
}

const revertAbi = parseAbi(['error Error(string)', 'error Panic(uint256)'])

/** The revert's own text. v3-core uses two or three letters and, for arithmetic checks, none at all. */
function reasonOf(data: Hex): string {
  if (data === '0x') return '(no reason given)'
  try {
    const { errorName, args } = decodeErrorResult({ abi: revertAbi, data })
    return errorName === 'Error' ? args[0] : `${errorName}(${args.join(', ')})`
  } catch {
    return data
  }
}
