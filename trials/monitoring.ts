/**
 * `npm run test:monitoring`: the alert rules, the dashboard and /metrics, read by the programs they are for. Prometheus'
 * promtool checks the rules, runs their tests (`monitoring/alerts.test.yaml`), parses every expression of the dashboard
 * and lints what a service prints; Grafana's own types check the dashboard. Prints a line per check.
 *
 * Needs promtool: that of ASSAY_PROMTOOL, on the PATH, or of Debian's package, which is fetched into a temporary folder.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startTestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { startTestService } from '../packages/server/endToEnd/testing/testService.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:monitoring\n  ASSAY_PROMTOOL names the program of Prometheus', {})

const ROOT = resolve(import.meta.dirname, '..')
const MONITORING = join(ROOT, 'docs/monitoring')
const SCHEMA = '@grafana/schema@13.2.3'

/** Names against Prometheus' advice, which stay because dashboards use them, and those of Node's own collector. */
const KEPT = [
  /^assay_(chain_lag|endpoint_p50)_ms metric names should not contain abbreviated units$/,
  /^assay_nodejs_active_\w+_total non-counter metrics should not have "_total" suffix$/,
]
/** How promtool ends when it could read everything and only advises. */
const ADVICE = 3

type Dashboard = {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}
type Outcome = { readonly isGood: boolean; readonly status: number | null; readonly text: string }

const folder = mkdtempSync(join(tmpdir(), 'assay-monitoring-'))

function run(file: string, args: readonly string[], input?: string): Outcome {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    ...(input === undefined ? {} : { input }),
  })
  return { isGood: status === 0, status, text: `${stdout ?? ''}${stderr ?? ''}`.trim() }
}

function promtool(): string {
  const named = process.env['ASSAY_PROMTOOL'] ?? 'promtool'
  if (run(named, ['--version']).isGood) return named
  execFileSync('apt-get', ['download', 'prometheus'], { cwd: folder, stdio: 'ignore' })
  const [packed = ''] = readdirSync(folder).filter(name => name.endsWith('.deb'))
  execFileSync('dpkg-deb', ['-x', packed, 'prometheus'], { cwd: folder })
  return join(folder, 'prometheus/usr/bin/promtool')
}

/** As a file of rules, because promtool parses expressions only there. */
function expressionsOf({ panels }: Dashboard): string {
  const rules = panels.flatMap(({ targets }) =>
    targets.map(({ expr }, at) => ({ record: `panel:target:${at}`, expr })),
  )
  // JSON is YAML. Each expression has a group of its own, so that equal names do not collide.
  const groups = rules.map((rule, at) => ({ name: `${at}`, rules: [rule] }))
  return JSON.stringify({ groups })
}

function grafanaTypes(text: string): Outcome {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const installed = run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', SCHEMA])
  if (!installed.isGood) return installed
  const program = `import type { Dashboard } from '@grafana/schema'\nexport const dashboard: Dashboard = ${text}`
  writeFileSync(join(folder, 'dashboard.ts'), program)
  const words = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
  return run(join(ROOT, 'node_modules/.bin/tsc'), [...words, 'dashboard.ts'])
}

async function metrics(): Promise<string> {
  const chain = await startTestChain()
  const service = await startTestService(chain)
  try {
    return await (await fetch(`${service.url}/metrics`)).text()
  } finally {
    await service.close()
    await chain.close()
  }
}

function withoutKept({ isGood, status, text }: Outcome): Outcome {
  const left = text.split('\n').filter(line => !KEPT.some(each => each.test(line)))
  return { isGood: isGood || (status === ADVICE && left.length === 0), status, text: left.join('\n') }
}

async function main(): Promise<number> {
  const tool = promtool()
  const rules = join(MONITORING, 'alerts.yaml')
  const dashboard = readFileSync(join(MONITORING, 'dashboard.json'), 'utf8')
  writeFileSync(join(folder, 'expressions.yaml'), expressionsOf(JSON.parse(dashboard) as Dashboard))
  const checks: readonly (readonly [what: string, check: () => Outcome | Promise<Outcome>])[] = [
    ['promtool reads the alert rules', () => run(tool, ['check', 'rules', rules])],
    [
      'the alerts fire when they should, and only then',
      () => run(tool, ['test', 'rules', join(ROOT, 'trials/monitoring/alerts.test.yaml')]),
    ],
    [
      'promtool parses every expression of the dashboard',
      () => run(tool, ['check', 'rules', '--lint=none', 'expressions.yaml']),
    ],
    ['promtool reads /metrics', async () => withoutKept(run(tool, ['check', 'metrics'], await metrics()))],
    ['the dashboard has the types of Grafana', () => grafanaTypes(dashboard)],
  ]
  let failed = 0
  for (const [what, check] of checks) {
    const { isGood, text } = await check()
    if (!isGood) failed += 1
    console.log(`${isGood ? 'passed' : 'FAILED'}  ${what}${isGood ? '' : `:\n${text}`}`)
  }
  console.log(`\n${checks.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

try {
  process.exitCode = await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
