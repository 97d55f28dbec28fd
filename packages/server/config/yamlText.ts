/** The text of the configuration file as a value: `${NAME}` is filled in from the environment, then it is parsed. */
import { isScalar, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml'
import type { FaultLog } from './faultLog.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Variables in comments are not expanded. What is filled in may be a secret, so no fault repeats it. */
export const expandVariables = (text: string, environment: Environment, faults: FaultLog): string =>
  text
    .split('\n')
    .map(line => line.slice(0, commentStart(line)))
    .join('\n')
    .replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const value = environment[name]
      if (value === undefined) faults.add(`\${${name}}`, undefined, `an environment variable ${name}`)
      else faults.hide(value)
      return value ?? ''
    })

/** Where a comment begins: at a `#` after a blank, outside quotes. */
function commentStart(line: string): number {
  let quote: string | null = null
  for (let at = 0; at < line.length; at++) {
    const [letter, before] = [line[at] as string, line[at - 1] ?? ' ']
    if (quote !== null) quote = letter === quote ? null : quote
    else if ((letter === '"' || letter === "'") && /[\s[{,:]/.test(before)) quote = letter
    else if (letter === '#' && /\s/.test(before)) return at
  }
  return line.length
}

export function parseYaml(text: string): unknown {
  const lineCounter = new LineCounter()
  // The parser would compare every key with all earlier ones: ten thousand of them take seconds.
  const document = parseDocument(text, { lineCounter, logLevel: 'error', uniqueKeys: false })
  const [failure] = document.errors
  if (failure !== undefined) throw failure
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) throw repeatedKey(key.range?.[0] ?? 0, lineCounter)
        seen.add(key.value)
      }
    },
  })
  const value: unknown = document.toJS()
  // An alias may refer to a node that contains it, which would never end.
  JSON.stringify(value)
  return value
}

function repeatedKey(at: number, lines: LineCounter): YAMLParseError {
  const failure = new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique')
  failure.linePos = [lines.linePos(at)]
  return failure
}

/** The parser's message without the text it quotes, which may be a secret. */
export function notYaml(failure: unknown): string {
  if (!(failure instanceof YAMLParseError)) return 'aliases without an anchor, without an end or too many'
  const [place] = failure.linePos ?? []
  const where = place === undefined ? '' : ` at line ${place.line}, column ${place.col}`
  return `${failure.code.toLowerCase().replaceAll('_', ' ')}${where}`
}
