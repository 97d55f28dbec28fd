import { count, ms, tick } from '@assay/engine'
import { expect, test } from 'vitest'
import { poolEventDrafts } from './poolEvents.ts'

const [KNOWN, FOREIGN] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const
const HASH = `0x${'ab'.repeat(32)}` as const
type Block = Parameters<typeof poolEventDrafts>[0]

test('R-http-5: an event is written with its place on the chain and its amounts, each once', () => {
  const swap = { kind: 'SWAP', amount0: -5n, amount1: 7n, sqrtPriceX96: 2n ** 96n, liquidity: 0n } as const
  const events = [
    { pool: KNOWN, family: 'amm_v3', event: { ...swap, tick: tick(-12) } },
    { pool: FOREIGN, family: 'amm_v2', event: { kind: 'SYNC', reserve0: 1n, reserve1: 2n } },
    { pool: KNOWN, family: 'amm_v2', event: { kind: 'SYNC', reserve0: 1n, reserve1: 2n } },
  ].map((each, at) => ({ ...each, transactionHash: HASH, logIndex: count(at) })) as Block['events']
  const block: Block = {
    number: count(9),
    hash: HASH,
    parentHash: HASH,
    timeMs: ms(1_700_000_000_000),
    proof: 'receipts',
    events,
  }
  const mined = { block_time_ms: 1_700_000_000_000, transaction_hash: HASH, proof: 'receipts' }
  const drafts = poolEventDrafts(block, pool => pool === KNOWN)
  expect(drafts.map(({ body }) => body)).toEqual(
    [
      {
        ...mined,
        amount0: '-5',
        amount1: '7',
        sqrt_price_x96: '79228162514264337593543950336',
        liquidity: '0',
        tick: -12,
      },
      { ...mined, reserve0: '1', reserve1: '2' },
    ].map(body => JSON.stringify(body)),
  )
  expect(drafts[1]).toMatchObject({
    poolAddress: KNOWN,
    kind: 'SYNC',
    blockNumber: 9,
    blockHash: HASH,
    logIndex: 2,
  })
})
