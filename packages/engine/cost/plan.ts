/** How far each pool is pushed, what that takes, and the orders in which plans and pushes are tried. */
import type { Costs, Lever, Short } from './lever.ts'
import type { Push } from './push.ts'

/** How far short of the wanted price each pool ends. */
export type Plan = ReadonlyMap<Lever, Short>

export const pushesOf = (plan: Plan, isUp: boolean): Push[] =>
  [...plan].flatMap(([lever, short]) => lever.at(short, isUp) ?? [])

export function costsOf(plan: Plan, isUp: boolean): Costs {
  let [capital, loss] = [0n, 0n]
  for (const [lever, short] of plan) {
    const costs = lever.costs(short, isUp)
    capital += costs.capital
    loss += costs.loss
  }
  return { capital, loss }
}

export const cheapestFirst = (plans: readonly Plan[], isUp: boolean): Plan[] =>
  plans
    .map(plan => ({ plan, loss: costsOf(plan, isUp).loss }))
    .sort((a, b) => byLoss(a.loss, b.loss))
    .map(({ plan }) => plan)

/** The pools of a plan, the most expensive push first. */
export function dearestFirst(plan: Plan, isUp: boolean): Lever[] {
  const lossOf = (lever: Lever) => lever.costs(plan.get(lever) as Short, isUp).loss
  return [...plan.keys()].sort((a, b) => byLoss(lossOf(b), lossOf(a)))
}

const byLoss = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
