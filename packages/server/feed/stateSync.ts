/**
 * The transaction that 137 adds to a block for messages from its parent chain. Before Madhugiri (block 80,084,800) it is
 * in no root and no bloom, yet nodes list it with a receipt of type 0, last, and some list it twice.
 *
 * Nothing proves what it logged, nor that it happened, so its logs are left out wherever they are listed. Its hash gives it
 * away: nobody can make another transaction with it.
 */
import type { Hex } from '../ops/config.ts'
import { keccak256 } from '../ops/keccak.ts'

const PREFIX = Buffer.from('matic-bor-receipt-')
const NUMBER_BYTES = 8

export function stateSyncHash({ number, hash }: { readonly number: number; readonly hash: Hex }): Hex {
  const height = Buffer.alloc(NUMBER_BYTES)
  height.writeBigUInt64BE(BigInt(number))
  const text = Buffer.concat([PREFIX, height, Buffer.from(hash.slice(2), 'hex')])
  return `0x${keccak256(text).toString('hex')}`
}
