/**
 * The examples of the documentation, as blocks that can be run. A block of `sh`, `ts`, `json` or `yaml` is held to be
 * true; what cannot be run here is written as `text`, and a test knows how many of those there are.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../../..')

export type DocBlock = {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
}

export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'packages/sdk/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]

export function blocksOf(page: string): DocBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(match => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] as string,
    text: match[2] as string,
  }))
}

/** An example with its gaps closed: `…` stands for what was left out. */
export function withoutGaps(text: string): string {
  const whole = /^\s*[{[]/.test(text) ? text : `{${text}}`
  return whole.replace(/\{…\}/g, '{}').replace(/\[…\]/g, '[]').replace(/,\s*…/g, '')
}

/** Every name of a field, at any depth. */
export function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...namesIn(each)])
}
