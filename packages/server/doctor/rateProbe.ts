/**
 * How many calls a second a chain will need from an endpoint, compared with what the endpoint allowed in a short burst.
 */
import type { Connection } from '../feed/transport/connection.ts'
import { isFeedError } from '../feed/feedError.ts'
import type { ChainConfig } from '../config/config.ts'
import type { ReceiptsFinding } from './abilityProbes.ts'
import { type Check, ok, sentenceOf, warn } from './check.ts'

/** Calls per followed block: header and receipts, polled heads where they are not pushed, and occasional finality. */
const CALLS_A_BLOCK = { pushed: 1.3, polled: 2.6 } as const
/** Identity, quiet pools and client requests. */
const UPKEEP_PER_SECOND = 0.1
/** Below what any provider considers abuse. */
const BURST = 30
const AT_ONCE = 10

export function neededPerSecond(
  { blockTimeMs }: Pick<ChainConfig, 'blockTimeMs'>,
  isPushed: boolean,
  { source, transactions }: Pick<ReceiptsFinding, 'source' | 'transactions'>,
): number {
  const more = source === 'receipts by transaction' ? Math.max(0, transactions - 1) : 0
  const aBlock = (isPushed ? CALLS_A_BLOCK.pushed : CALLS_A_BLOCK.polled) + more
  return (aBlock * 1000) / blockTimeMs + UPKEEP_PER_SECOND
}

export async function probeRate(
  connection: Pick<Connection, 'call'>,
  needed: number,
  clock: { monotonicMs(): number },
  signal: AbortSignal,
): Promise<Check> {
  const needs = `about ${rounded(needed)} calls a second`
  const { answered, tookMs, refusal } = await burst(connection, clock, signal)
  // Limits count over a second, so the answers within one are the rate.
  const borne = answered / Math.max(1, tookMs / 1000)
  if (refusal === null)
    return ok('rate', `${needs}; this endpoint answered ${BURST} at ${rounded(borne)} a second`)
  const value = `${needs}; this endpoint refused at ${rounded(borne)}`
  return borne < needed
    ? warn('rate', `${value} (${refusal})`, 'use a plan with a higher limit, or add another endpoint')
    : ok('rate', value)
}

/** Ends when all are answered or one is refused. */
async function burst(
  connection: Pick<Connection, 'call'>,
  clock: { monotonicMs(): number },
  signal: AbortSignal,
): Promise<{ readonly answered: number; readonly tookMs: number; readonly refusal: string | null }> {
  const startedMs = clock.monotonicMs()
  let begun = 0
  let answered = 0
  let refusal: string | null = null
  const ask = async (): Promise<void> => {
    while (begun < BURST && refusal === null) {
      begun++
      try {
        await connection.call('eth_blockNumber', [], signal)
        answered++
      } catch (error) {
        if (!isFeedError(error)) throw error
        refusal ??= sentenceOf(error)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return { answered, tookMs: clock.monotonicMs() - startedMs, refusal }
}

const rounded = (rate: number): string =>
  rate < 10 ? `${Math.round(rate * 10) / 10}` : `${Math.round(rate)}`
