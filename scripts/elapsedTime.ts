/**
 * Finds tests that assert how fast this machine is: an elapsed time, measured with a clock of the machine, under an
 * upper bound. A busy machine fails such a test, and a fast one hides the purpose of the test.
 *
 * It reads text, not types: it follows a measured time through the names of one file, and no further. A lower bound
 * is fine, because a slow machine only makes a wait longer.
 */

const CLOCK = String.raw`(?:performance\.now\(\)|Date\.now\(\)|hrtime(?:\.bigint)?\(\)|systemClock\.\w+Ms\(\))`
/** A clock reading minus an earlier one; minus a number or a constant it is a moment. */
const ELAPSED = String.raw`(?:${CLOCK}(?: \/ 1000)? - (?![A-Z0-9_]+\b)[\w(]|\w\)? - ${CLOCK})`
const UPPER = String.raw`\.(?:toBeLessThan|toBeLessThanOrEqual|not\s*\.toBeGreaterThan|not\s*\.toBeGreaterThanOrEqual)\(`

/** How far back to search for the beginning of a function, in lines. */
const FUNCTION_LINES = 40

/** Each assertion of an upper bound on a measured time, as written. */
export function timedClaims(text: string): string[] {
  const measured = measuredNames(text)
  const isTimed = (what: string): boolean =>
    new RegExp(ELAPSED).test(what) || [...measured].some(name => new RegExp(`\\b${name}\\b`).test(what))
  const claims = text.matchAll(
    new RegExp(String.raw`expect(?:\s*\.poll)?\(([\s\S]{1,300}?)\)\s*${UPPER}`, 'g'),
  )
  return [...claims]
    .map(([whole, what = '']) => ({ whole, what: what.slice(what.lastIndexOf('expect(') + 1) }))
    .filter(({ what }) => isTimed(what))
    .map(({ whole }) => whole.slice(whole.lastIndexOf('expect')).replaceAll(/\s+/g, ' '))
}

/** Names of values and functions that are, or contain, a measured time. */
function measuredNames(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    if (!new RegExp(ELAPSED).test(line)) continue
    const own = /(?:const|let) (\w+) =|^\s*(\w+)\.push\(|^\s*(\w+) = |(\w+): [^:]*$/.exec(line)?.slice(1)
    const name = own?.find(each => each !== undefined)
    if (name !== undefined) names.add(name)
    else if (/^\s*return\b/.test(line)) {
      const before = lines.slice(Math.max(0, at - FUNCTION_LINES), at)
      const opened = before.findLast(each => /function \w+|const \w+ = (async )?\(/.test(each))
      const [, called] = /(?:function|const) (\w+)/.exec(opened ?? '') ?? []
      if (called !== undefined) names.add(called)
    }
  }
  for (let size = -1; size < names.size; ) {
    size = names.size
    for (const [, name = '', value = ''] of text.matchAll(
      /(?:const|let) (\w+) =\s([\s\S]{1,200}?)(?=\n\s*(?:\w|\}|\/))/g,
    ))
      if (isMadeOf(value, names)) names.add(name)
    for (const [, name = '', value = ''] of text.matchAll(/(\w+)\.push\(([^\n]*)\)/g))
      if (isMadeOf(value, names)) names.add(name)
  }
  return names
}

const isMadeOf = (value: string, names: ReadonlySet<string>): boolean =>
  [...names].some(each => new RegExp(`\\b${each}\\b`).test(value))
