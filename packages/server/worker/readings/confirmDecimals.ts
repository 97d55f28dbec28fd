/**
 * Changed decimals are held for half an hour (R-decimals-3), unless an operator confirms them. The operator's number
 * alone is not enough: the token is read once more and must report the same.
 */
import { type Address, heldUntilMs, type State } from '@assay/engine'
import { isFeedError } from '../../feed/feedError.ts'
import type { DecimalsConfirmation } from '../chainService.ts'
import type { Intake, Means } from './intake.ts'
import type { Steps } from '../steps.ts'

export type ConfirmContext = Means & {
  readonly state: State
  readonly intake: Intake
  readonly apply: (...input: Parameters<Steps['apply']>) => Promise<unknown>
  readonly now: () => ReturnType<Steps['now']>
}

export async function confirmDecimals(
  context: ConfirmContext,
  token: Address,
  decimals: number,
): Promise<DecimalsConfirmation> {
  const { state, intake, market, signal, apply, now } = context
  const isHeld = () => heldUntilMs(state.tokens.get(token)?.decimals ?? null) !== null
  if (!isHeld()) return { outcome: 'not_held' }
  try {
    return await intake.take(
      context,
      block => market.readToken(token, block, signal),
      async (facts, block): Promise<DecimalsConfirmation> => {
        if (!isHeld()) return { outcome: 'not_held' }
        if (facts === null || facts.decimals !== decimals)
          return { outcome: 'other', read: facts?.decimals ?? null }
        await apply({ kind: 'token_facts', block, facts: [{ ...facts, confirmed: true }], atMs: now() })
        return { outcome: 'confirmed' }
      },
    )
  } catch (failure) {
    if (!isFeedError(failure)) throw failure
    return { outcome: 'rpc_unavailable', reason: failure.message }
  }
}
