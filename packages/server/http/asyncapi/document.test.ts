import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RECORD_TYPES } from '@assay/sdk/wire'
import { expect, it } from 'vitest'
import { asyncApiDocument } from './document.ts'

it('passes the linter with every recommended rule and not one warning', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-asyncapi-'))
  const file = join(folder, 'asyncapi.json')
  writeFileSync(file, JSON.stringify(asyncApiDocument()))
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
  rmSync(folder, { recursive: true })
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, ''])
}, 120_000)

it('names every type of record, and has no dangling reference', () => {
  const document = asyncApiDocument() as {
    channels: Record<string, { messages: object }>
    components: Record<string, object>
  }
  for (const { messages } of Object.values(document.channels))
    for (const type of [...RECORD_TYPES, 'RESET_REQUIRED']) expect(Object.keys(messages)).toContain(type)
  const text = JSON.stringify(document)
  for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let at: unknown = document
    for (const key of (ref as string).split('/')) at = (at as Record<string, unknown>)[key]
    expect(at, ref as string).toBeTypeOf('object')
  }
})

it('describes every message, channel, operation and parameter', () => {
  type Said = { readonly description?: string; readonly summary?: string }
  const { components, channels, operations } = asyncApiDocument() as unknown as {
    components: { messages: Record<string, Said> }
    channels: Record<string, Said & { bindings?: { ws: { query: { properties: Record<string, Said> } } } }>
    operations: Record<string, Said>
  }
  const all = {
    ...components.messages,
    ...channels,
    ...operations,
    ...channels['events']?.bindings?.ws.query.properties,
  }
  expect(Object.keys(all).length).toBeGreaterThan(14)
  const isSaid = ({ description, summary }: Said) => /.{10}\.$/.test(description ?? summary ?? '')
  expect(Object.keys(all).filter(name => !isSaid(all[name] ?? {}))).toEqual([])
})
