/** Bisection over whole numbers: milliseconds, or positions in a list. */
import type { Count, Ms } from '../units.ts'

/** The first in (after, by] from which `holds` is true. It is true at `by`, and false at `after`, which is not tried. */
export function firstFrom<At extends Count | Ms>(after: At, by: At, holds: (at: At) => boolean): At {
  let [not, then]: [At, At] = [after, by]
  while (then - not > 1) {
    const middle = Math.floor((not + then) / 2) as At
    if (holds(middle)) then = middle
    else not = middle
  }
  return then
}
