import { expect, test } from 'vitest'
import { eventText } from './rows.ts'

const [POOL, HASH] = [`0x${'11'.repeat(20)}`, `0x${'ab'.repeat(32)}`]
const row = {
  chainId: 56,
  poolAddress: POOL,
  kind: 'SYNC',
  blockNumber: 9,
  blockHash: HASH,
  logIndex: 3,
  finality: 'finalized',
} as const

test('R-http-5: an event is returned in full, from its row and its body', () => {
  const rest = {
    block_time_ms: 1000,
    transaction_hash: HASH,
    proof: 'receipts',
    reserve0: '1',
    reserve1: '2',
  }
  const event = {
    chain_id: 56,
    pool_id: `0x${'0'.repeat(24)}${'11'.repeat(20)}`,
    kind: 'SYNC',
    block_number: 9,
    block_hash: HASH,
    log_index: 3,
    ...rest,
    finality: 'finalized',
  }
  expect(eventText({ ...row, body: JSON.stringify(rest) })).toEqual(event)
  const { finality: _, ...whole } = event
  expect(eventText({ ...row, body: JSON.stringify(whole) }), 'one with everything in its body').toEqual(event)
})
