/**
 * Cuts the result out of a JSON-RPC answer exactly as the node wrote it. Parsing and printing it again would change
 * spaces and numbers beyond 2^53.
 */

/** The answer must be valid JSON. Null when it has no result. */
export function rawResult(text: string): string | null {
  let at = past(text, 0, SPACE)
  if (text[at] !== '{') return null
  for (at++; ; at++) {
    at = past(text, at, SPACE)
    if (text[at] !== '"') return null
    const keyEnd = stringEnd(text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    // Skip the colon and the blanks around it.
    const start = past(text, past(text, keyEnd, SPACE) + 1, SPACE)
    const end = valueEnd(text, start)
    if (key === 'result') return text.slice(start, end)
    at = past(text, end, SPACE)
    if (text[at] !== ',') return null
  }
}

const SPACE = /[ \t\r\n]/
const PLAIN = /[^,\]} \t\r\n]/

function past(text: string, start: number, what: RegExp): number {
  let at = start
  while (at < text.length && what.test(text[at] as string)) at++
  return at
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start)
  if (text[start] !== '{' && text[start] !== '[') return past(text, start, PLAIN)
  for (let at = start, depth = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === '"') at = stringEnd(text, at) - 1
    else if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return text.length
}
