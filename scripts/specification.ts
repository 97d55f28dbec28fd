/**
 * The sentences of the specification, section by section: rows of its tables, items of its lists and sentences of its
 * paragraphs. A sentence with "not shown" leaves a decision to us, and one that ends in a colon introduces others:
 * neither counts.
 */
export type Sentence = { readonly section: string; readonly text: string }

const HEADING = /^#{2,3} (?<number>\d+(?:\.\d+)?)\.? /
const RULE_OF_A_TABLE = /^\|[\s|:-]+$/
const ITEM = /^(?:- |\d+\. )(?<text>.+)$/
const LEFT_TO_US = /not shown|omitted/i

export function sentencesOf(specification: string): readonly Sentence[] {
  const lines = specification.split('\n')
  const sentences: Sentence[] = []
  let section = ''
  for (const [at, line] of lines.entries()) {
    const number = HEADING.exec(line)?.groups?.['number']
    if (number !== undefined) section = number
    else if (section !== '' && !isHead(line, lines[at + 1] ?? ''))
      for (const text of textsOf(line))
        if (!LEFT_TO_US.test(text) && !text.endsWith(':')) sentences.push({ section, text })
  }
  return sentences
}

/** Words alone, so that a quotation may omit punctuation and differ in case. */
export const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const isHead = (line: string, next: string): boolean =>
  RULE_OF_A_TABLE.test(line) || RULE_OF_A_TABLE.test(next) || line.startsWith('#')

function textsOf(line: string): readonly string[] {
  if (line.trim() === '') return []
  if (line.startsWith('|')) return [line.split('|').slice(1, -1).join(' ')]
  const item = ITEM.exec(line)?.groups?.['text']
  return (item ?? line).split(/(?<=[.;]) (?=[A-Z])/)
}
