import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openApiDocument } from './document.ts'
import { OPERATIONS } from './operations.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-openapi-'))
const file = join(folder, 'openapi.json')
beforeAll(() => writeFileSync(file, JSON.stringify(openApiDocument())))
afterAll(() => rmSync(folder, { recursive: true }))

it('passes the linter with every recommended rule and not one warning', () => {
  const redocly = join(
    dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
    'bin/cli.js',
  )
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [redocly, 'lint', '--extends=recommended-strict', '--format=stylish', file],
    {
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', CI: 'true' },
    },
  )
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, ''])
}, 120_000)

it('refers to nothing that is not in it, and holds nothing that is not referred to', () => {
  const text = JSON.stringify(openApiDocument())
  const { components } = openApiDocument() as { components: Record<string, object> }
  const named = new Set(
    Object.entries(components).flatMap(([kind, each]) =>
      kind === 'securitySchemes' ? [] : Object.keys(each).map(name => `#/components/${kind}/${name}`),
    ),
  )
  const referred = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1] as string))
  expect([...referred].filter(ref => !named.has(ref))).toEqual([])
  expect([...named].filter(name => !referred.has(name))).toEqual([])
})

it('has an example, a real answer, for every operation that answers with a record and no secret', () => {
  const { paths } = openApiDocument() as {
    paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, object> }> }>>
  }
  const bare = OPERATIONS.filter(({ id, path, method, answers }) => {
    if (['createSession', 'issueKey', 'rollKey', 'createWebhook', 'rotateWebhook'].includes(id)) return false
    const first = Object.entries(answers).find(([, schema]) => schema !== null)?.[0]
    if (first === undefined) return false
    return !('example' in (paths[path]?.[method]?.responses[first]?.content?.['application/json'] ?? {}))
  })
  expect(bare.map(({ id }) => id)).toEqual([])
})
