/** What trips say of a token: every law of the judgement, without a node. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import json from '../../engine/oracle/selling.json' with { type: 'json' }
import { judge, taxBps, wordsOf } from './judge.ts'
import type { ProbeStep, Trip } from './plan.ts'

const trip = (failed: readonly ProbeStep[] = [], revert: Trip['revert'] = null): Trip => ({
  failed,
  bought: { sent: 10_000n, arrived: 10_000n },
  moved: { sent: 2500n, arrived: 2500n },
  sold: failed.includes('SELL') ? null : { sent: 5000n, arrived: 5000n },
  revert,
})
const [good, bad, unreached] = [trip(), trip(['SELL'], '0x'), trip(['FUND'], '0x')]

const anyTrip = fc.subarray<ProbeStep>(['FUND', 'BUY', 'MOVE', 'SELL', 'GAS']).map(failed => trip(failed))
const anyLook = fc.option(fc.tuple(anyTrip, anyTrip))

describe('judge', () => {
  it('R-sell-2: reports UNSELLABLE only when both sizes failed later, by the purchase or the sale', () => {
    fc.assert(
      fc.property(anyLook, anyLook, (now, later) => {
        const { status } = judge({ now, later })
        const hasFailed = ({ failed }: Trip) =>
          !failed.includes('FUND') &&
          !failed.includes('GAS') &&
          (failed.includes('BUY') || failed.includes('SELL'))
        expect(status === 'UNSELLABLE').toBe(later !== null && later.every(hasFailed))
      }),
    )
  })

  it('R-sell-2: ignores a failure within one block when a later sale succeeds', () => {
    expect(judge({ now: [bad, bad], later: [good, good] })).toMatchObject({
      status: 'SELLABLE',
      reason: null,
    })
    expect(judge({ now: [bad, bad], later: null })).toMatchObject({
      status: 'UNKNOWN',
      reason: 'SELL_REVERTED',
      method: 'CALL_OVERRIDE',
    })
  })

  it('R-sell-2: reports its other results', () => {
    expect(judge({ now: null, later: [good, bad] }).reason).toBe('SIZE_LIMITED')
    expect(judge({ now: [trip(['MOVE']), trip(['MOVE'])], later: null }).reason).toBe('TRANSFER_REVERTED')
    expect(judge({ now: [unreached, unreached], later: null }).reason).toBe('NO_PATH')
    expect(judge({ now: null, later: null }).reason).toBe('NO_OVERRIDES')
    expect(judge({ now: [good, trip(['GAS'])], later: null }).reason).toBe('OUT_OF_GAS')
  })

  it('R-sell-1: a tax is the nearest basis point of the missing amount, and a gift is none', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n })
    fc.assert(
      fc.property(amounts, amounts, (sent, arrived) => {
        const bps = taxBps({ sent, arrived }) as number
        if (arrived >= sent) {
          expect(bps).toBe(0)
          return
        }
        const exact = Number(((sent - arrived) * 10n ** 10n) / sent) / 1e6
        expect(Math.abs(bps - exact)).toBeLessThanOrEqual(0.5 + 1e-5)
      }),
    )
    expect(taxBps({ sent: 0n, arrived: 0n })).toBeNull()
  })

  it('R-sell-1: a token’s revert text is made printable and truncated', () => {
    expect(wordsOf('0x')).toBe('(no reason given)')
    expect(wordsOf('0x12345678aabbccdd')).toBe('0x12345678')
    const text = (hex: string, length: string) =>
      wordsOf(`0x08c379a0${'20'.padStart(64, '0')}${length.padStart(64, '0')}${hex}`)
    expect(text('6e6f', '2')).toBe('no')
    expect(text('0a1b6e6f', '4')).toBe('??no')
    expect(text('ff'.repeat(60), 'ffff')).toBe('?'.repeat(60))
  })
})

/** `packages/engine/oracle/selling.py` computes them a second time. */
describe('as in Python', () => {
  it('R-sell-1: the tax of a passage', () => {
    for (const { sent, arrived, bps } of json.taxes)
      expect([sent, arrived, taxBps({ sent: BigInt(sent), arrived: BigInt(arrived) })]).toEqual([
        sent,
        arrived,
        bps,
      ])
  })

  it('R-sell-2: the combined result of both probes', () => {
    const trips = (look: readonly (readonly string[])[] | null) =>
      look === null ? null : look.map(failed => trip(failed as readonly ProbeStep[]))
    for (const { now, later, status } of json.looks)
      expect([now, later, judge({ now: trips(now), later: trips(later) }).status]).toEqual([
        now,
        later,
        status,
      ])
  })
})
