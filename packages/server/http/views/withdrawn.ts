/** Which records of a token's history a reorganisation withdrew: those are marked, or left out. */
import type { HistoryPoint, HistoryRow, HistoryStore } from '../../store/history.ts'
import { placeOf, type Withdrawal, withdrawalOf, type WithdrawalStore } from '../../store/withdrawals.ts'

type Subject = { readonly chainId: number; readonly tokenAddress: string }
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

/** The points that hold. Only where a block may be the one that stayed is the state read for its hash. */
export async function standingPoints<Point extends HistoryPoint>(
  store: WithdrawalStore & Pick<HistoryStore, 'readTokenAt'>,
  { chainId, tokenAddress }: Subject,
  points: readonly Point[],
): Promise<readonly Point[]> {
  const withdrawals = await withdrawalsOver(store, chainId, points)
  if (withdrawals.length === 0) return points
  const standing: Point[] = []
  for (const point of points) {
    const { sequence } = point
    const named = withdrawals.filter(
      each => each.sequence > sequence && each.blockNumber <= point.blockNumber,
    )
    if (named.some(({ keptHash }) => keptHash === null)) continue
    if (named.length > 0) {
      const row = await store.readTokenAt(chainId, tokenAddress, { sequence })
      const hash = row?.sequence === sequence ? hashIn(JSON.parse(row.state) as State) : ''
      if (withdrawalOf(named, point, hash) !== undefined) continue
    }
    standing.push(point)
  }
  return standing
}

function withdrawalsOver(
  store: WithdrawalStore,
  chainId: number,
  points: readonly HistoryPoint[],
): Promise<readonly Withdrawal[]> {
  if (points.length === 0) return Promise.resolve([])
  const [first] = points.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
  const [upToBlock] = points.map(({ blockNumber }) => blockNumber).toSorted((a, b) => b - a)
  return store.readWithdrawals(chainId, { after: first as number, upToBlock: upToBlock as number })
}

const hashIn = (state: State): string => placeOf(state)?.hash ?? ''
