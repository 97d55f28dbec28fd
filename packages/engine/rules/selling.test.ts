/**
 * Caps by a simulated sale and by a pool's balances, against a second computation in Python:
 * `python3 packages/engine/oracle/selling.py > packages/engine/oracle/selling.json`.
 */
import { describe, expect, test } from 'vitest'
import json from '../oracle/selling.json' with { type: 'json' }
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { type Count, count, type Ms, ms } from '../units.ts'
import { backingCap, hasExcess, type Holding } from './backing.ts'
import { type SellabilityStatus, sellabilityCap, withSales } from './sellability.ts'

const bps = (tax: number | null): Count | null => (tax === null ? null : count(tax))

describe('as in Python', () => {
  test('R-sell-3: the cap of every result', () => {
    for (const { status, reason, transferTaxBps, sellTaxBps, cap } of json.caps) {
      const found = {
        status: status as SellabilityStatus,
        reason,
        buyTaxBps: null,
        transferTaxBps: bps(transferTaxBps),
        sellTaxBps: bps(sellTaxBps),
      }
      const said = sellabilityCap(found, DEFAULT_POLICY)
      expect([found, said === null ? null : [said.code, said.cap]]).toEqual([found, cap])
    }
  })

  test('R-sell-2: a failing sale is a restriction when others have sold', () => {
    for (const { status, reason, lastSaleMs, blockMs, is } of json.sales) {
      const taxes = { buyTaxBps: null, transferTaxBps: null, sellTaxBps: null }
      const found = { status: status as SellabilityStatus, reason, ...taxes }
      const said = withSales(found, lastSaleMs === null ? null : ms(lastSaleMs), ms(blockMs))
      expect([said.status, said.reason]).toEqual(is)
    }
  })

  test('R-back-1: what balances show, reading after reading', () => {
    for (const { isPair, readings, said } of json.backing) {
      let excessSinceMs: Ms | null = null
      for (const [at, { readMs, holdings }] of readings.entries()) {
        const [a, b] = holdings.map(each => each.map(BigInt)) as [[bigint, bigint], [bigint, bigint]]
        const held = [holdingOf(a), holdingOf(b)] as const
        excessSinceMs = hasExcess(isPair, held, DEFAULT_POLICY) ? (excessSinceMs ?? ms(readMs)) : null
        const cap = backingCap(isPair, { holdings: held, readMs: ms(readMs), excessSinceMs }, DEFAULT_POLICY)
        expect({ excessSinceMs, isUnbacked: cap?.code === 'UNBACKED' && cap.cap === 3 }).toEqual(said[at])
      }
    }
  })
})

const holdingOf = ([balance, against]: readonly [bigint, bigint]): Holding => ({ balance, against })
