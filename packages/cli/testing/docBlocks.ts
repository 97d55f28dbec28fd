/**
 * The examples of the documentation, as blocks that can be run. Blocks of `sh`, `ts`, `json` and `yaml` are tested;
 * what cannot be run here is written as `text`, and a test lists those.
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
  ...['docs', 'docs/how-to', 'docs/evidence'].flatMap(folder =>
    readdirSync(join(ROOT, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => `${folder}/${name}`),
  ),
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
