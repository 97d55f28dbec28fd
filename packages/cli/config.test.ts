import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { assayProgram } from './program.ts'
import { PLACES, run } from './testing/session.ts'

const root = mkdtempSync(join(tmpdir(), 'assay-config-'))
afterAll(() => rmSync(root, { recursive: true }))
const env = { ASSAY_RPC_1: 'https://one.example/hidden', ASSAY_RPC_56: 'wss://two.example/hidden' }

describe.each(PLACES)('assay config on %s', place => {
  const cwd = mkdtempSync(join(root, 'folder-'))

  it('creates a file, checks it, and shows every value with its source', async () => {
    const init = await run(place, ['config', 'init', '--chains', '1,56'], { cwd })
    expect([init.code, init.text]).toEqual([
      0,
      expect.stringMatching(/^Wrote assay\.yaml.*\n\n {2}export ASSAY_RPC_1=.*\n {2}npx assay config check/),
    ])
    expect(statSync(join(cwd, 'assay.yaml')).mode & 0o777).toBe(0o600)
    const again = await run(place, ['config', 'init'], { cwd })
    expect([again.code, `${again.text}${again.errors}`]).toEqual([
      1,
      expect.stringContaining('--force replaces it'),
    ])
    const check = await run(place, ['config', 'check'], { cwd, env })
    expect([check.code, check.text]).toEqual([
      0,
      expect.stringMatching(/^sound {2}assay\.yaml\n {2}chain 1 {2}Ethereum, one endpoint\n/),
    ])
    const show = await run(place, ['config', 'show'], { cwd, env, columns: 200 })
    expect(show.text).toMatch(/^Key +Source +Value\n/)
    expect(show.text).toMatch(
      /^chains\[1\]\.endpoints\[0\]\.url +assay\.yaml:\d+ \$\{ASSAY_RPC_56\} +\[redacted\]$/m,
    )
    expect(show.text).toMatch(/^listen\.port +default +8080$/m)
    expect(show.text).not.toContain('hidden')
    const part = await run(place, ['config', 'show', 'retention', '--json'], { cwd, env })
    expect(JSON.parse(part.text)).toEqual({
      file: 'assay.yaml',
      values: [
        { path: 'retention.hours', value: 72, source: 'default' },
        { path: 'retention.records', value: 1_000_000, source: 'default' },
        { path: 'retention.history_days', value: null, source: 'default' },
      ],
    })
    const none = await run(place, ['config', 'show', 'nothing'], { cwd, env })
    expect([none.code, `${none.text}${none.errors}`]).toEqual([
      3,
      expect.stringContaining('no key begins with nothing'),
    ])
  })

  it('prints the schema that init writes beside the file', async () => {
    const { code, text } = await run(place, ['config', 'schema'], { cwd })
    expect([code, JSON.parse(text)]).toEqual([
      0,
      JSON.parse(readFileSync(join(cwd, 'assay.schema.json'), 'utf8')),
    ])
  })

  it('reports every fault at once, those of the policy too, with exit code 2', async () => {
    writeFileSync(join(cwd, 'wrong.yaml'), 'listen: { prot: 1 }\nchains: [{ chain_id: 1, endpoints: [] }]\n')
    const { code, text, errors } = await run(place, ['config', 'check', '--config', 'wrong.yaml'], { cwd })
    expect([code, `${text}${errors}`]).toEqual([
      2,
      expect.stringMatching(/2 faults:\n.*listen\.prot.*\n.*endpoints/),
    ])
    writeFileSync(
      join(cwd, 'policy.yaml'),
      'chains: [{ chain_id: 1, endpoints: [{ name: a, url: "http://127.0.0.1:1" }] }]\npolicy: { max_hops: 99 }\n',
    )
    const policy = await run(place, ['config', 'check', '--config', 'policy.yaml'], { cwd })
    expect([policy.code, `${policy.text}${policy.errors}`]).toEqual([
      2,
      expect.stringContaining('policy.max_hops'),
    ])
  })
})

it('every command is run on a terminal and in a pipe', () => {
  const leaves = (command: ReturnType<typeof assayProgram>, path: string): string[] =>
    command.commands.length === 0 || command.name() === 'world'
      ? [path, ...command.commands.flatMap(each => leaves(each, `${path} ${each.name()}`))]
      : command.commands.flatMap(each => leaves(each, path === '' ? each.name() : `${path} ${each.name()}`))
  const tests = ['commands', 'world', 'config', 'completion', 'mcp']
    .map(name => readFileSync(join(import.meta.dirname, `${name}.test.ts`), 'utf8'))
    .join('\n')
  const missing = leaves(assayProgram(), '').filter(
    path => !tests.includes(`['${path.split(' ').join("', '")}'`),
  )
  expect(missing).toEqual([])
})
