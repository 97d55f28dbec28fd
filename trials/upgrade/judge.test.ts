/** The judge of the rehearsal finds what it is there to find. */
import type { Envelope } from '@assay/sdk'
import { expect, it } from 'vitest'
import type { StoreReader } from '../../packages/server/store/check.ts'
import { Judge } from './judge.ts'
import type { Listener } from './listener.ts'

const swap = (sequence: number, block = sequence): Envelope =>
  ({
    stream_sequence: sequence,
    type: 'SWAP_OBSERVED',
    payload: { block_hash: `0x${block}`, log_index: 3 },
  }) as unknown as Envelope
const price = (sequence: number, record_id: string): Envelope =>
  ({ stream_sequence: sequence, type: 'PRICE_UPSERT', payload: { record_id } }) as unknown as Envelope
const LOG = [swap(1), price(2, 'a'), swap(3)]
const SWAPS = ['0x1 3', '0x3 3']

const judgeOf = (log: readonly Envelope[]) =>
  new Judge(async () => {
    const rows = log.map(record => ({
      sequence: record.stream_sequence,
      envelope: JSON.stringify(record),
    }))
    const readLog: unknown = async (after: number) => rows.filter(({ sequence }) => sequence > after)
    return { readLog } as StoreReader
  })

async function verdictOf(log: readonly Envelope[], heard: readonly Envelope[], swaps = SWAPS) {
  const judge = judgeOf(log)
  await judge.missing(swaps)
  return judge.judge([{ name: 'one', records: heard } as Listener], swaps)
}

it('everything once, as in the log, is complete, and is not judged again', async () => {
  expect(await verdictOf(LOG, LOG)).toEqual({ records: 3, lost: 0, repeated: 0, faults: [] })
  const judge = judgeOf(LOG)
  expect(await judge.missing([...SWAPS, '0x9 3'])).toEqual(['0x9 3'])
  const listener = { name: 'one', records: LOG } as unknown as Listener
  expect(judge.judge([listener], SWAPS).records).toBe(3)
  expect(judge.judge([listener], SWAPS).records).toBe(0)
})

it.each([
  ['a missing record', LOG, [swap(1), swap(3)], { lost: 1 }],
  ['a record received twice', LOG, [...LOG, swap(3)], { repeated: 1 }],
  ['records out of order', LOG, [swap(1), swap(3), price(2, 'a')], {}],
  ['a record received with another text', LOG, [swap(1), price(2, 'b'), swap(3)], {}],
  ['a swap of the chain without a record', LOG.slice(0, 2), LOG.slice(0, 2), { lost: 1 }],
  ['a swap reported twice', [...LOG, swap(4, 3)], [...LOG, swap(4, 3)], { repeated: 1 }],
  ['a record id that is there twice', [...LOG, price(4, 'a')], [...LOG, price(4, 'a')], { repeated: 1 }],
  ['a gap in the log', [...LOG, swap(5)], [...LOG, swap(5)], {}],
])('%s is a fault', async (_, log, heard, counted) => {
  const verdict = await verdictOf(log, heard)
  expect(verdict).toMatchObject({ lost: 0, repeated: 0, ...counted })
  expect(verdict.faults).not.toEqual([])
})
