import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { blocksOf, type DocBlock, namesIn, PAGES, ROOT, withoutGaps } from './testing/docBlocks.ts'
import { endSessions, open, PLACES, run, type Session } from './testing/session.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-world-'))
let world: Session
let url: string
let key: string

/** On a terminal, as a newcomer has it. */
beforeAll(async () => {
  world = open('a terminal', ['start', '--port', '0'], { cwd: folder, columns: 120 })
  ;[, url = ''] = await world.until(/Console {2}(\S+)\/\n/)
  ;[, key = ''] = await world.until(/API key {2}(\S+)\n/)
}, 360_000)
afterAll(endSessions)
afterAll(async () => {
  world.interrupt()
  await world.ended
  rmSync(folder, { recursive: true })
})

/**
 * A shell with what the page said before; what never ends is ended after its first words, and what a busy machine could
 * not answer in time (504) is asked again.
 */
const PREAMBLE = `set -euo pipefail
endless() {
  timeout 60 "$@" > endless.txt & local it=$!
  until [ -s endless.txt ]; do kill -0 $it; sleep 0.1; done
  kill $it; wait $it || true; head -n 3 endless.txt
}
assay() { if [ "$1" = watch ]; then endless "$NODE" "$BIN" "$@"; else "$NODE" "$BIN" "$@"; fi; }
npm() { [ "$1 $2 $3" = "run assay --" ] && shift 3 && assay "$@"; }
npx() { shift && assay "$@"; }
curl() { case " $* " in *" -N "*) endless curl "$@" ;; *) command curl --fail-with-body --retry 5 "$@" ;; esac; }
`

/** Runs a script to its end, or until it has said something and was to be endless. */
function script(
  file: string,
  args: readonly string[],
  isEndless = false,
): Promise<{ code: number | null; text: string }> {
  const child = spawn(file, args, {
    cwd: folder,
    env: {
      ...process.env,
      NODE: process.execPath,
      BIN: join(ROOT, 'packages/cli/bin.js'),
      ASSAY_KEY: key,
      ASSAY_URL: url,
    },
    // `assay mcp` would wait for a client that never speaks.
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', part => {
      text += String(part)
      if (isEndless && text.split('\n').length > 3) child.kill('SIGKILL')
    })
  return new Promise(resolve => child.on('close', code => resolve({ code, text })))
}

const local = (text: string): string => text.replaceAll('http://127.0.0.1:8080', url)

describe('every example of the documentation', () => {
  /** Run by firstRun.test.ts, or by the tests that they start. */
  const ELSEWHERE = ['npm install && npm start\n', 'npm install && npm test\n']

  const ENDPOINT = '{ name: own-node, url: "http://127.0.0.1:8545" }'

  const commandsOf = (page: string) =>
    blocksOf(page).filter(({ language, text }) => language === 'sh' && !ELSEWHERE.includes(text))
  const programsOf = (page: string) => blocksOf(page).filter(({ language }) => language === 'ts')

  it.each(PAGES.filter(page => commandsOf(page).length > 0))('%s: commands run as written', async page => {
    const blocks = commandsOf(page)
    const { code, text } = await script('bash', [
      '-c',
      `${PREAMBLE}\n${local(blocks.map(each => each.text).join('\n'))}`,
    ])
    expect(code, text).toBe(0)
    expect(text).toMatch(/\S/)
  })

  it.each(PAGES.filter(page => programsOf(page).length > 0))('%s: programs run as written', async page => {
    const blocks = programsOf(page)
    const fragments = blocks.filter(({ text }) => text.startsWith('/**'))
    for (const { text } of fragments) {
      // The page may break its lines elsewhere than the formatter does.
      const flat = (source: string) => source.replace(/\s+/g, '').replaceAll(',)', ')')
      const [, file = ''] = /From `([^`]+)`:/.exec(readFileSync(join(ROOT, page), 'utf8')) ?? []
      expect(flat(readFileSync(join(ROOT, file), 'utf8'))).toContain(flat(text))
    }
    const { chains } = parse(readFileSync(join(folder, 'data/assay.yaml'), 'utf8')) as {
      chains: { endpoints: { url: string }[] }[]
    }
    const node = chains[0]?.endpoints.find(endpoint => endpoint.url.startsWith('http'))?.url ?? ''
    for (const program of wholePrograms(blocks.filter(each => !fragments.includes(each)))) {
      // Where the packages of this repository are found, and no commit sees it.
      const file = join(ROOT, '.cache', `example-${page.replaceAll('/', '-')}.ts`)
      mkdirSync(join(ROOT, '.cache'), { recursive: true })
      writeFileSync(file, local(program).replaceAll('http://127.0.0.1:8545', node))
      const isEndless = program.includes('.follow(')
      const { code, text } = await script(
        process.env['ASSAY_EXAMPLE_NODE'] ?? process.execPath,
        [file],
        isEndless,
      )
      rmSync(file)
      expect(isEndless ? 0 : code, text).toBe(0)
      expect(text).not.toMatch(/Error|^$/)
    }
  })

  it('responses and frames have no field that the API does not describe', async () => {
    const known = new Set<string>()
    for (const path of ['/openapi.json', '/asyncapi.json'])
      for (const name of namesIn(await (await fetch(`${url}${path}`)).json())) known.add(name)
    const unknown = PAGES.flatMap(blocksOf)
      .filter(({ language }) => language === 'json')
      .flatMap(({ page, line, text }) =>
        namesIn(JSON.parse(withoutGaps(text)))
          .filter(name => !known.has(name) && name !== '…')
          .map(name => `${page}:${line} ${name}`),
      )
    expect(unknown).toEqual([])
  })

  it('configurations are valid', async () => {
    for (const { text } of PAGES.flatMap(blocksOf).filter(({ language }) => language === 'yaml')) {
      // A section by itself is held to be true in the smallest file there is.
      const whole = /^chains:/m.test(text)
        ? text
        : `${text}chains: [{ chain_id: 1, endpoints: [${ENDPOINT}] }]\n`
      writeFileSync(join(folder, 'example.yaml'), whole)
      const { code, errors } = await run('a pipe', ['config', 'check', '--config', 'example.yaml'], {
        cwd: folder,
        env: { BACKUP_RPC: 'https://backup.example' },
      })
      expect([code, errors]).toEqual([0, ''])
    }
  })

  it('examples that cannot be run here are marked as text, and are few', () => {
    const left = PAGES.flatMap(blocksOf).filter(({ language }) => language === 'text')
    expect(left.map(({ page }) => page)).toEqual([
      'CONTRIBUTING.md',
      'packages/sdk/README.md',
      'docs/CAPACITY.md',
      'docs/CAPACITY.md',
      'docs/FILES.md',
      'docs/NODES.md',
      'docs/NODES.md',
      'docs/NODES.md',
      'docs/NODES.md',
      'docs/OPERATIONS.md',
      'docs/OPERATIONS.md',
      'docs/OPERATIONS.md',
      'docs/OPERATIONS.md',
      'docs/QUICKSTART.md',
      'docs/QUICKSTART.md',
      'docs/QUICKSTART.md',
      'docs/QUICKSTART.md',
      'docs/QUICKSTART.md',
      'docs/RELIABILITY.md',
      'docs/RELIABILITY.md',
      'docs/TRUTH.md',
      'docs/TUTORIAL.md',
      'docs/WEBHOOKS.md',
      'docs/how-to/back-up-and-restore.md',
      'docs/how-to/back-up-and-restore.md',
      'docs/how-to/manage-keys.md',
      'docs/evidence/MUTATIONS.md',
    ])
  })
})

/** A block with imports begins a program; one without continues the program before it. */
function wholePrograms(blocks: readonly DocBlock[]): readonly string[] {
  const programs: string[] = []
  for (const { text } of blocks)
    if (programs.length === 0 || text.startsWith('import ')) programs.push(text)
    else programs.push(`${programs.pop()}\n${text}`)
  return programs
}

describe('the dashboard and the alerts', () => {
  const metricsIn = (text: string) => new Set(text.match(/\bassay_[a-z0-9_]+/g) ?? [])

  it('use only series that /metrics prints, with labels they have', async () => {
    const printed = await (await fetch(`${url}/metrics`)).text()
    const names = new Set(
      [...printed.matchAll(/^(assay_[a-z0-9_]+)(?:\{| )/gm)].map(match => match[1] as string),
    )
    const dashboard = readFileSync(join(ROOT, 'docs/monitoring/dashboard.json'), 'utf8')
    const alerts = readFileSync(join(ROOT, 'docs/monitoring/alerts.yaml'), 'utf8')
    for (const text of [dashboard, alerts])
      expect([...metricsIn(text)].filter(name => !names.has(name))).toEqual([])
    // `job` is given by Prometheus itself.
    const labels = new Set(['job', ...[...printed.matchAll(/([a-z_]+)="/g)].map(match => match[1])])
    const used = [...`${dashboard}${alerts}`.matchAll(/by \(([a-z_, ]+)\)|\{([a-z_]+)=/g)].flatMap(match =>
      (match[1] ?? match[2] ?? '').split(',').map(each => each.trim()),
    )
    expect(used.filter(label => !labels.has(label))).toEqual([])
    // A value that is asked for is one that a series has, shown before there is anything to count.
    const asked = `${dashboard.replaceAll('\\"', '"')}${alerts}`.matchAll(
      /(assay_[a-z0-9_]+)\{([a-z_]+="[^"]+")\}/g,
    )
    const without = [...asked].filter(
      ([, name = '', pair = '']) =>
        !printed.split('\n').some(line => line.startsWith(`${name}{`) && line.includes(pair)),
    )
    expect(without.map(([query]) => query)).toEqual([])
  })

  it('are well formed: a query in every panel, and an annotation for the person on call', () => {
    const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/monitoring/dashboard.json'), 'utf8')) as {
      panels: { title: string; type: string; targets: { expr: string }[] }[]
    }
    expect(panels.length).toBeGreaterThan(8)
    for (const { title, targets } of panels)
      expect([title, targets.every(({ expr }) => expr.includes('assay_'))]).toEqual([title, true])
    const { groups } = parse(readFileSync(join(ROOT, 'docs/monitoring/alerts.yaml'), 'utf8')) as {
      groups: {
        rules: { alert: string; expr: string; annotations: { summary: string; description: string } }[]
      }[]
    }
    for (const rule of groups.flatMap(({ rules }) => rules))
      expect([rule.alert, rule.annotations.summary, rule.annotations.description]).toEqual([
        expect.stringMatching(/^Assay[A-Z]/),
        expect.stringMatching(/\S/),
        expect.stringMatching(/\S/),
      ])
  })
})

describe('a running world takes commands', () => {
  it.each(PLACES)('world incidents and world incident, on %s', async place => {
    const list = await run(place, ['world', 'incidents'], { cwd: folder })
    expect(list.text).toMatch(/^Incident +Ends +What happens\n/)
    expect(list.text).toMatch(/^stable-depeg +--end +\S/m)
    const caused = await run(place, ['world', 'incident', 'reorg', '--chain', '42161', '--depth', '1'], {
      cwd: folder,
    })
    expect([caused.code, caused.text]).toEqual([0, expect.stringMatching(/chain 42161, block \d+: \S/)])
    const json = await run(place, ['world', 'incident', 'look-alike', '--chain', '56', '--json'], {
      cwd: folder,
    })
    expect(JSON.parse(/\{.*\}\n$/.exec(json.text)?.[0] ?? '')).toMatchObject({ chainId: 56 })
  })

  it('a second world in the same folder is refused, with what to do', async () => {
    const { code, errors } = await run('a pipe', ['start', '--port', '0'], { cwd: folder })
    expect([code, errors]).toEqual([1, expect.stringMatching(/already runs in .*--data/)])
  })

  it('Ctrl-C stops everything; the chains alone resume where they stopped, in a pipe and on a terminal', async () => {
    world.interrupt()
    expect((await world.ended).code).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    for (const place of PLACES) {
      const alone = open(place, ['world'], { cwd: folder })
      const [, node = ''] = await alone.until(/^ +1 {2}(http:\S+) {2}ws:/m)
      const answer = await fetch(node, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      })
      expect(await answer.json()).toMatchObject({ result: '0x1' })
      await alone.until(/serve it with: npx assay serve --config/)
      alone.interrupt()
      expect((await alone.ended).code).toBe(0)
    }
  })
})
