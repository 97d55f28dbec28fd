/** The main path of the service on each profile of endpoints: a price, a swap, a reorganisation, a restart, a cursor. */
import { AssayError, type Client, type Envelope, type PricedQuote } from '@assay/sdk'
import { PROFILES } from '@assay/world'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { Pace } from '../testing/pace.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { isSwap, recordIdOf } from '../testing/record.ts'
import { roomyClient } from '../testing/roomy.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { openTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

/** The pace of the fastest chains of the local world. */
const BLOCK_MS = 1000
/** `finalized` is 64 blocks below the head, so a swap that was priced only after a minute can still be reorganised. */
const SLOTS = 32
/** Guards against a hang: many times longer than any step needs. */
const PATIENCE_MS = 240_000
const STEP_MS = 3 * PATIENCE_MS
/** How much of the chain's log a failure shows. */
const LAST_LINES = 8

describe.each(PROFILES)('on the profile $name ($about)', profile => {
  let chain: TestChain
  let pace: Pace
  let service: TestService
  let client: Client
  let pair: Hex
  let v3: Hex
  /** Trades on the canonical chain. */
  const trades: Block[] = []
  /** Records one client received over all its connections. */
  const heard: Envelope[] = []

  const open = async (): Promise<void> => {
    service = await openTestService(chain, { name: profile.name })
    client = await roomyClient(service)
  }
  beforeAll(async () => {
    chain = await startTestChain(planWith(), { profile, slotsInAnEpoch: SLOTS })
    pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
    pace = new Pace(chain, BLOCK_MS)
    await open()
  })
  afterAll(async () => {
    await pace?.stop()
    await service?.close()
    await chain?.close()
  })

  const trade = async (usd: number): Promise<Block> => {
    const block = await pace.between(() =>
      chain.run(chain.sellV2(pair, 'MOTH', usd), chain.sellV3(v3, 'LARK', usd)),
    )
    trades.push(block)
    return block
  }
  /** A failure shows the health record and the end of the chain's log. */
  const wait = async <Value>(
    what: string,
    look: () => Promise<Value | null | false> | Value | null | false,
  ): Promise<Value> => {
    try {
      return await until(what, look, PATIENCE_MS)
    } catch (failure) {
      const health = await service.store.readHealth(CHAIN_ID)
      const log = service.lines.filter(line => line.includes('"thread"')).slice(-LAST_LINES)
      throw new Error([(failure as Error).message, `health: ${health}`, ...log].join('\n'), {
        cause: failure,
      })
    }
  }
  /** Null while there is no price, or the chain is not up yet and the client has to retry. */
  const quoteOf = async (symbol: string): Promise<PricedQuote | null> => {
    try {
      const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })
      return quote.state === 'PRICED' ? quote : null
    } catch (failure) {
      if (failure instanceof AssayError && failure.code === 'RPC_UNAVAILABLE') return null
      throw failure
    }
  }
  /** Waits for a price at or above this block, on the branch that contains it. */
  const untilPriced = (symbol: string, block: Block): Promise<PricedQuote> =>
    wait(`${symbol} priced at block ${block.number}`, async () => {
      const quote = await quoteOf(symbol)
      if (quote === null || quote.as_of.block_number < block.number) return null
      const swaps = (await service.records()).filter(isSwap())
      return swaps.some(({ payload }) => payload.block_hash === block.hash) && quote
    })
  /** Resumes after the last record received and reads up to a given record. */
  const hear = async (what: string, isLast: (record: Envelope) => boolean): Promise<void> => {
    const resumeCursor = await cursorAfter(client, CHAIN_ID, heard.at(-1)?.stream_sequence ?? 0)
    const stream = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor })
    await wait(what, () => stream.outcome !== null || stream.records.some(isLast))
    await stream.close()
    heard.push(...stream.records)
  }
  const isSwapOf =
    (block: Block) =>
    (record: Envelope): boolean =>
      isSwap(pair)(record) && record.payload.block_hash === block.hash
  const priceText = (quote: PricedQuote): string => JSON.stringify(quote.price_usd)

  /** Steps build on each other, so those after a failed one fail at once. */
  let failed: string | null = null
  const step = (name: string, run: () => Promise<void>): void =>
    it(name, { timeout: STEP_MS }, async () => {
      if (failed !== null) throw new Error(`an earlier step failed: ${failed}`)
      failed = name
      await run()
      failed = null
    })

  step('publishes a first price of every token', async () => {
    for (const symbol of ['LARK', 'MOTH', 'WETH']) {
      // A request for a token that is not evaluated yet would count as an enrolment.
      const stored = () => service.store.readQuote(CHAIN_ID, chain.token(symbol))
      await wait(`${symbol} evaluated`, stored)
      await wait(`${symbol} priced`, () => quoteOf(symbol))
    }
  })

  step('a swap changes the price', async () => {
    const before = await wait('MOTH priced', () => quoteOf('MOTH'))
    const block = await trade(3000)
    const after = await untilPriced('MOTH', block)
    expect(priceText(after)).not.toBe(priceText(before))
    await hear('its swap', isSwapOf(block))
    const { state } = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pair })
    expect(state?.reserves).toEqual(await chain.reserves(pair))
  })

  step('a reorganisation withdraws the swap, by name, and the price with it', async () => {
    const before = await wait('MOTH priced', () => quoteOf('MOTH'))
    const snapshot = await pace.between(() => chain.snapshot())
    const block = await trade(9000)
    const onOldBranch = await untilPriced('MOTH', block)
    expect(priceText(onOldBranch)).not.toBe(priceText(before))
    const sequence = await service.head()
    await pace.between(async () => {
      const { number } = await chain.head()
      await chain.revert(snapshot)
      trades.pop()
      // The new branch wins because it is longer.
      for (let at = (await chain.head()).number; at <= number; at++) await chain.mineNow()
    })
    const orphaned = await wait('the swap orphaned', async () => {
      const swaps = (await service.records(sequence)).filter(isSwap(pair))
      return swaps.length > 0 && swaps
    })
    expect(orphaned.map(({ payload }) => [payload.block_hash, payload.finality])).toEqual([
      [block.hash, 'orphaned'],
    ])
    await wait('the price of before', async () => {
      const now = await quoteOf('MOTH')
      return now !== null && priceText(now) === priceText(before)
    })
  })

  step('a restart resumes where the log ended, with the trades made meanwhile', async () => {
    const sequence = await service.head()
    expect(service.faults).toEqual([])
    await service.close()
    const missed = [await trade(200), await trade(300)]
    await open()
    const last = await trade(400)
    await untilPriced('MOTH', last)
    const swaps = (await service.records(sequence)).filter(isSwap(pair))
    expect(swaps.map(({ payload }) => payload.block_hash)).toEqual([...missed, last].map(({ hash }) => hash))
  })

  step('a client resumes from its cursor and has missed nothing', async () => {
    const last = trades.at(-1) as Block
    await hear('the last trade', isSwapOf(last))
    const sequences = heard.map(record => record.stream_sequence)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
    const ids = heard.map(recordIdOf).filter(id => id !== null)
    expect(new Set(ids).size).toBe(ids.length)
    const held = heard.filter(isSwap(pair)).filter(({ payload }) => payload.finality !== 'orphaned')
    const gone = new Set(
      heard
        .filter(isSwap(pair))
        .flatMap(({ payload }) => (payload.finality === 'orphaned' ? [payload.block_hash] : [])),
    )
    expect(held.map(({ payload }) => payload.block_hash).filter(hash => !gone.has(hash))).toEqual(
      trades.map(({ hash }) => hash),
    )
    expect(service.faults).toEqual([])
  })
})
