/** Blocks that anyone can make large: a contract that logs nothing, or much, as often as its caller asks for. */
import type { Hex } from '../../ops/hex.ts'
import { type LocalChain, mineTransactions } from './localChain.ts'

/**
 * Calldata: how many logs, and how many bytes of data in each. By hand: n = calldataload(0); do { log0(0,
 * calldataload(32)); n -= 1 } while (n); stop
 */
const BLASTER_CODE = '0x6000355b6020356000a0600190038060035700'
const BLASTER: Hex = `0x${'40'.repeat(20)}`
/** Gas of one turn of the loop, and of a byte of data; rounded up. */
const [TURN_GAS, BYTE_GAS] = [450, 9]
/** One transaction may have no more since Osaka (EIP-7825). */
const MOST_GAS = 16_000_000
const BLOCK_GAS = 4_000_000_000

export type FatBlock = {
  /** In all. */
  readonly logs: number
  readonly dataBytes?: number
}

/** One block with so many logs, in as few transactions as gas allows, and then other transactions. */
export async function mineFat(
  chain: Pick<LocalChain, 'rpc'>,
  { logs, dataBytes = 0 }: FatBlock,
  others: readonly Readonly<Record<string, unknown>>[] = [],
): Promise<void> {
  await chain.rpc('anvil_setCode', BLASTER, BLASTER_CODE)
  await chain.rpc('evm_setBlockGasLimit', hex(BLOCK_GAS))
  const each = Math.floor((MOST_GAS - 100_000) / (TURN_GAS + BYTE_GAS * dataBytes))
  const counts = Array.from({ length: Math.ceil(logs / each) }, (_, n) => Math.min(each, logs - n * each))
  const blasts = counts.map(count => ({
    to: BLASTER,
    gas: hex(MOST_GAS),
    data: `0x${word(count)}${word(dataBytes)}`,
  }))
  await mineTransactions(chain as LocalChain, [...blasts, ...others])
}

const hex = (value: number): Hex => `0x${value.toString(16)}`
const word = (value: number): string => value.toString(16).padStart(64, '0')
