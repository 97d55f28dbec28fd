/**
 * The conformance suite of MCP, in a process of its own, against /mcp in both revisions. It asks for everything a server
 * may offer: of what is asked of a server with tools and nothing else, every check passes, and what we say to the rest is
 * well-formed. Its tools of its own (`test_…`) are no tools of ours.
 */
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KeyedProxy, openKeyedProxy } from '../testing/keyedProxy.ts'
import { openTestApi, type TestApi } from '../testing/testApi.ts'

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string }

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
const folder = mkdtempSync(join(tmpdir(), 'assay-mcp-'))
let api: TestApi
let proxy: KeyedProxy
beforeAll(async () => {
  api = await openTestApi()
  proxy = await openKeyedProxy(api.url, await api.key(['read']))
})
afterAll(async () => {
  await proxy?.close()
  await api?.close()
  rmSync(folder, { recursive: true })
})

/** Checks by scenario. The suite ends with 1, since a server without prompts lists none. */
async function checksOf(revision: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const output = join(folder, revision)
  const words = ['server', '--url', `${proxy.url}/mcp`, '--requirements', revision, '--output-dir', output]
  await new Promise<void>(resolve => {
    execFile(process.execPath, [SUITE, ...words], { cwd: folder }, () => resolve())
  })
  return new Map(
    globSync('*/checks.json', { cwd: output }).map(file => [
      dirname(file)
        .replace(/^server-/, '')
        .replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
      JSON.parse(readFileSync(join(output, file), 'utf8')) as Check[],
    ]),
  )
}

const faultsIn = (checks: readonly Check[] = [], without: readonly string[] = []): string[] =>
  checks
    .filter(({ id, status }) => !['SUCCESS', 'INFO', 'SKIPPED'].includes(status) && !without.includes(id))
    .map(({ id, errorMessage }) => `${id}: ${errorMessage}`)

/** They need a tool of the suite's own, or prompts and resources. */
const ABOUT_OTHERS = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
]

const OURS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '2025-11-25': {
    'server-initialize': 3,
    ping: 2,
    'tools-list': 3,
    'dns-rebinding-protection': 2,
    'server-session-lifecycle': 1,
  },
  '2026-07-28': {
    'server-stateless': 25,
    'tools-list': 4,
    caching: 4,
    'http-header-validation': 14,
    'dns-rebinding-protection': 2,
    'server-sse-multiple-streams': 1,
    'input-required-result-unsupported-methods': 2,
  },
}

it.each(Object.keys(OURS))('%s: every check for a server with tools passes', async revision => {
  const scenarios = await checksOf(revision)
  for (const [scenario, least] of Object.entries(OURS[revision] ?? {})) {
    const checks = scenarios.get(scenario) ?? []
    expect([scenario, ...faultsIn(checks, ABOUT_OTHERS)]).toEqual([scenario])
    expect([scenario, checks.length >= least]).toEqual([scenario, true])
  }
  const wire = [...scenarios.values()].flat().filter(({ id }) => id === 'wire-schema-valid')
  expect(wire.length).toBeGreaterThan(5)
  expect(faultsIn(wire)).toEqual([])
})
