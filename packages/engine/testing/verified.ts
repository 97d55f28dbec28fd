/** An event that a contract emitted, understood: our own computation gives all that it states. */
import { expect } from 'vitest'
import type { Check } from '../amm/adapter.ts'

export function expectVerified({ verdict, differences }: Check, what: string): void {
  expect({ verdict, differences }, what).toEqual({ verdict: 'verified', differences: [] })
}
