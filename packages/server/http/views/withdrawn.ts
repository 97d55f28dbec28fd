/** Which records of a token's history a reorganisation withdrew: those are marked, or left out. */
import type { HistoryRow } from '../../store/history.ts'
import { hashIn, withdrawalsOver } from '../../store/standing.ts'
import { withdrawalOf, type WithdrawalStore } from '../../store/withdrawals.ts'

type State = { readonly [field: string]: unknown }

/** The states of rows, each with when and why it was withdrawn, if it was. */
export async function markedStates(
  store: WithdrawalStore,
  chainId: number,
  rows: readonly HistoryRow[],
): Promise<readonly State[]> {
  const withdrawals = await withdrawalsOver(store, chainId, rows)
  return rows.map(row => {
    const state = JSON.parse(row.state) as State
    const found = withdrawalOf(withdrawals, row, hashIn(state))
    if (found === undefined) return state
    return { ...state, withdrawn: { reason: 'REORG', at_ms: found.atMs, stream_sequence: found.sequence } }
  })
}

export const isStanding = (state: State): boolean => state['withdrawn'] === undefined
