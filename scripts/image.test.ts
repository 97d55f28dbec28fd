/** What `COPY . .` puts into an image: the program, and nothing that is private to the machine it is built on. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Of .dockerignore's language what ours uses: `**` for any folders, `*` for a part of a name, a folder with all in it. */
const patterns = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => {
    const name = line
      .replace(/[.+()|^$]/g, '\\$&')
      .replaceAll('**/', '<any>')
      .replaceAll('*', '[^/]*')
    return new RegExp(`^${name.replaceAll('<any>', '(.*/)?')}(/|$)`)
  })
const isLeftOut = (file: string): boolean => patterns.some(pattern => pattern.test(file))

it.each([
  'data/key',
  'data/assay.db',
  'data/assay.db-wal',
  'data/world/1/state.json',
  'packages/cli/data/key',
  'assay.db',
  'assay.yaml',
  'deploy/assay.yaml',
  'deploy/.env',
  '.env',
  '.env.local',
  '.git/config',
  '.cache/test.log',
  'assay.log',
  'node_modules/ws/index.js',
  'packages/console/node_modules/preact/package.json',
])('leaves out %s', file => {
  expect(isLeftOut(file)).toBe(true)
})

it('leaves out every file that git ignores', () => {
  const kept = readFileSync('.gitignore', 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.replace(/^\//, '').replace(/\/$/, '/file').replace('*', 'some'))
    .filter(file => !isLeftOut(file))
  expect(kept).toEqual([])
})

it('has every file of the checkout except the examples of deployment', () => {
  const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
  const lost = tracked.filter(file => isLeftOut(file) && !file.startsWith('deploy/'))
  expect(lost).toEqual([])
})

it('the image is built from the remaining files', () => {
  const lines = readFileSync('deploy/Containerfile', 'utf8').split('\n')
  // Any other source would have to be looked for among those that are left out.
  expect(lines.filter(line => /^(COPY|ADD)\b/.test(line))).toEqual([
    'COPY . .',
    'COPY --from=build /assay /assay',
  ])
  expect(lines.join('\n')).toContain('npm run pack -- /packages')
  expect(['package.json', 'package-lock.json', '.npmrc'].filter(isLeftOut)).toEqual([])
})
