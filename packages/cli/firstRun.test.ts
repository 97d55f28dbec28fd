/** The README's run command, in a copy of the last commit that has nothing but its own files. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { freePort } from '../server/endToEnd/testing/childService.ts'
import { ROOT } from './testing/docBlocks.ts'

/** A guard: that prices are there a minute after the install is a row of bench/start.ts. An anvil of one's own may run emulated. */
const PATIENCE_MS = 400_000
/** Some forty thousand files. */
const REMOVAL_MS = 180_000

const copy = mkdtempSync(join(tmpdir(), 'assay-first-'))
const groups = new Set<number>()
afterAll(() => {
  for (const group of groups) process.kill(-group, 'SIGKILL')
  rmSync(copy, { recursive: true, force: true })
}, REMOVAL_MS)

/** The machine's own Node and npm, not those of this repository. */
const PATH = (process.env['PATH'] ?? '')
  .split(':')
  .filter(folder => !folder.includes('node_modules'))
  .join(':')
const env = Object.fromEntries(
  Object.entries({ ...process.env, PATH }).filter(
    ([name]) => !/^(npm_|ASSAY_(?!ANVIL$)|VITEST|NODE_)/.test(name),
  ),
)

class Run {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  said = ''

  /** As a shell does for a terminal: one group of processes, which Ctrl-C reaches as a whole. */
  constructor(command: string) {
    this.#child = spawn('bash', ['-c', command], {
      cwd: copy,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    groups.add(this.group)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', part => (this.said += String(part)))
    this.#ended = once(this.#child, 'close')
  }

  get group(): number {
    return this.#child.pid as number
  }

  async until(what: RegExp): Promise<string> {
    const lateAt = performance.now() + PATIENCE_MS
    for (;;) {
      const found = what.exec(this.said)
      if (found !== null) return found[1] ?? found[0]
      if (this.#child.exitCode !== null || performance.now() > lateAt)
        throw new Error(`never printed ${what}:\n${this.said.slice(-4000)}`)
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }

  async stop(): Promise<void> {
    process.kill(-this.group, 'SIGINT')
    await this.#ended
    groups.delete(this.group)
  }
}

/** Of the processes of a group: how many, and what they hold in memory. */
function processesOf(group: number): { readonly count: number; readonly mebibytes: number } {
  let [count, kibibytes] = [0, 0]
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const [, , , , own] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/\(.*\)/, '()')
        .split(' ')
      if (Number(own) !== group) continue
      count += 1
      kibibytes += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      // It has ended meanwhile.
    }
  }
  return { count, mebibytes: Math.round(kibibytes / 1024) }
}

/** What watches over a node ends a moment after it. */
const untilGone = (group: number) => expect.poll(() => processesOf(group).count).toBe(0)

const shell = (line: string): string => execFileSync('sh', ['-c', line], { encoding: 'utf8', env, cwd: copy })

it('npm install && npm start: the commands it prints work, Ctrl-C stops everything, and the next start continues', async () => {
  execFileSync('sh', ['-c', `git archive HEAD | tar -x -C '${copy}'`], { cwd: ROOT })
  expect(readFileSync(join(copy, 'README.md'), 'utf8')).toContain('\nnpm install && npm start\n')
  const port = await freePort()
  const startedAt = performance.now()
  const first = new Run(`npm install && npm start -- --port ${port}`)
  await first.until(/Starting the local world/)
  const installedS = (performance.now() - startedAt) / 1000
  const upS = Number(await first.until(/Assay is up after ([0-9.]+) s/))
  const key = await first.until(/API key {2}(assay_\S+)/)
  const address = await first.until(/Console {2}(http:\S+)/)
  await first.until(/Ctrl-C stops everything/)
  const page = await fetch(address)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Assay</title>')])
  const lines = first.said.split('\n').filter(line => line.startsWith('  curl '))
  expect(lines).toHaveLength(3)
  const [chains, quote, pools] = lines.map(line => JSON.parse(shell(line)) as Record<string, unknown>)
  expect(chains).toMatchObject({ chains: { length: 6 } })
  expect(quote).toMatchObject({
    state: 'PRICED',
    price_usd: { display: expect.stringMatching(/^1\.\d+$/) as string },
  })
  expect(pools).toMatchObject({ pools: { length: 2 } })
  const head = (): { head_sequence: number } =>
    (
      JSON.parse(
        shell(`curl -s -X POST -H "Authorization: Bearer ${key}" "${address}v1/session?chain_id=1"`),
      ) as { stream: { head_sequence: number } }
    ).stream
  const before = head().head_sequence
  const { count, mebibytes } = processesOf(first.group)
  await first.stop()
  await untilGone(first.group)
  await expect(fetch(address)).rejects.toThrow()

  const again = new Run(`npm start -- --port ${port}`)
  const againS = Number(await again.until(/Assay is up after ([0-9.]+) s/))
  expect(await again.until(/API key {2}(assay_\S+)/)).toBe(key)
  // The same log: no record is lost, and it grows.
  expect(head().head_sequence).toBeGreaterThanOrEqual(before)
  await expect.poll(() => head().head_sequence, { timeout: 60_000 }).toBeGreaterThan(before)
  await again.stop()
  await untilGone(again.group)
  expect(existsSync(join(copy, 'data', 'assay.db'))).toBe(true)
  console.log(
    `install ${installedS.toFixed(0)} s, first start ${upS} s, second start ${againS} s, ${count} processes with ${mebibytes} MiB`,
  )
}, 600_000)
