/** The points of a token's history that no reorganisation withdrew. */
import type { HistoryPoint, HistoryStore } from './history.ts'
import { placeOf, type Withdrawal, withdrawalOf, type WithdrawalStore } from './withdrawals.ts'

type Subject = { readonly chainId: number; readonly tokenAddress: string }
type State = { readonly [field: string]: unknown }

/** Only where a block may be the one that stayed is the state of a point read, for its hash. */
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

/** Those that may concern any of these points. */
export function withdrawalsOver(
  store: WithdrawalStore,
  chainId: number,
  points: readonly HistoryPoint[],
): Promise<readonly Withdrawal[]> {
  if (points.length === 0) return Promise.resolve([])
  const [first] = points.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
  const [upToBlock] = points.map(({ blockNumber }) => blockNumber).toSorted((a, b) => b - a)
  return store.readWithdrawals(chainId, { after: first as number, upToBlock: upToBlock as number })
}

export const hashIn = (state: State): string => placeOf(state)?.hash ?? ''
