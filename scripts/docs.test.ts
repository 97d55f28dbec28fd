/** The docs hold together: parts that are made from the schemas are current, and every link leads somewhere. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { madeParts, withParts } from './docsParts.ts'

it.each(Object.entries(madeParts()))('%s is as `npm run docs` writes it', (page, parts) => {
  const text = readFileSync(page, 'utf8')
  expect(withParts(text, parts)).toBe(text)
})

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(page => page !== '' && existsSync(page))

const withoutCode = (text: string): string =>
  text.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/`[^`\n]*`/g, '')

/** As GitHub makes them from headings; a heading that comes twice gets a number. */
function anchorsOf(page: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const text = readFileSync(page, 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '')
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
      const plain = heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')
      const count = seen.get(plain) ?? 0
      seen.set(plain, count + 1)
      return count === 0 ? plain : `${plain}-${count}`
    }),
  )
}

it.each(pages)('every link of %s leads to a file or a heading of this repository', page => {
  const links = [...withoutCode(readFileSync(page, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].map(
    match => match[1] as string,
  )
  const broken = links
    .filter(link => !/^(https?|mailto):/.test(link))
    .filter(link => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      if (!existsSync(target)) return true
      return anchor !== undefined && (!statSync(target).isFile() || !anchorsOf(target).has(anchor))
    })
  expect(broken).toEqual([])
})

const versionOf = (manifest: string): string =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version

it('the changelog begins with what is unreleased, or with the version of the packages and its date', () => {
  const newest = /^## (.+)$/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1] ?? ''
  const [version, date] = newest.split(' ')
  if (newest !== 'Unreleased')
    expect([version, date]).toEqual([
      versionOf('package.json'),
      expect.stringMatching(/^\(\d{4}-\d\d-\d\d\)$/),
    ])
})

it.each(globSync('packages/*/package.json'))('%s has the version of the whole', manifest => {
  expect(versionOf(manifest)).toBe(versionOf('package.json'))
})

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(file => existsSync(file))
/** Pages about our own code; PERFORMANCE.md names files of other projects too. */
const aboutCode = [
  'AGENTS.md',
  'CONTRIBUTING.md',
  'docs/ARCHITECTURE.md',
  'docs/CLI.md',
  'docs/MCP.md',
  'docs/STYLE.md',
]

it.each(aboutCode)('every source file that %s names exists', page => {
  const named = [...readFileSync(page, 'utf8').matchAll(/`([\w./-]+\.tsx?)`/g)].map(
    match => match[1] as string,
  )
  expect(named.length + Number(page === 'docs/STYLE.md')).toBeGreaterThan(0)
  expect(named.filter(path => !files.some(file => file === path || file.endsWith(`/${path}`)))).toEqual([])
})

it('the service logs every message that OPERATIONS.md tells an operator to watch', () => {
  const [, logs = ''] = readFileSync('docs/OPERATIONS.md', 'utf8').split('\n## Logs\n')
  const cells = [...logs.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
  const messages = cells.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] as string))
  expect(messages.length).toBeGreaterThan(14)
  const source = files
    .filter(file => /^packages\/server\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'))
    .map(file => readFileSync(file, 'utf8'))
  expect(messages.filter(message => !source.some(code => code.includes(message)))).toEqual([])
})
