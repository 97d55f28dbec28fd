/**
 * `npm run test:deploy`: the examples under `deploy/`, read by the programs of those who will read them: kubectl's
 * kustomize and the schemas of Kubernetes, systemd-analyze, promtool. A program that is not here is named, with how to
 * get it. Prints one line per check and a last line `N passed, N failed, N skipped`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** Too large to be a dependency for one check: installed into a temporary folder. */
const SCHEMAS = 'kubernetes-models@5.1.0'
const KINDS = ['ConfigMap', 'Secret', 'Service', 'Deployment', 'Deployment', 'PodDisruptionBudget']

type Resource = { readonly apiVersion: string; readonly kind: string }
type Model = new (resource: object) => { validate(): void }

const folder = mkdtempSync(join(tmpdir(), 'assay-deploy-'))
const counts = { passed: 0, failed: 0, skipped: 0 }
try {
  cpSync('deploy', join(folder, 'deploy'), { recursive: true })
  mkdirSync(join(folder, 'docs'))
  cpSync('docs/monitoring', join(folder, 'docs/monitoring'), { recursive: true })
  checkKubernetes()
  checkUnits()
  checkPrometheus()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1

function checkKubernetes(): void {
  if (!isHere('kubectl', ['version', '--client'])) return skip('Kubernetes', 'kubectl')
  writeFileSync(join(folder, 'deploy/.env'), 'ASSAY_DATABASE=postgres://assay:secret@postgres/assay\n')
  const built = spawnSync('kubectl', ['kustomize', join(folder, 'deploy')], { encoding: 'utf8' })
  report('kubectl kustomize deploy', built.status === 0, built.stderr)
  const resources = parseAllDocuments(built.stdout).map(each => each.toJSON() as Resource)
  const kinds = resources.map(({ kind }) => kind)
  report('has every resource', KINDS.toSorted().join() === kinds.toSorted().join(), kinds.join(', '))
  console.log('installing the schemas of Kubernetes…')
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', SCHEMAS], {
    cwd: folder,
    stdio: 'ignore',
  })
  const installed = createRequire(join(folder, 'package.json'))
  for (const resource of resources) {
    // By its file: the package exports no path for what has a version alone, such as a Service.
    const path = join(folder, 'node_modules/kubernetes-models', resource.apiVersion, resource.kind)
    const { [resource.kind]: model } = installed(path) as Record<string, Model>
    report(`${resource.apiVersion} ${resource.kind}`, ...outcomeOf(model, resource))
  }
}

function outcomeOf(model: Model | undefined, resource: Resource): [boolean, string] {
  if (model === undefined) return [false, 'no such kind']
  try {
    new model(resource).validate()
    return [true, '']
  } catch (failure) {
    return [false, String(failure)]
  }
}

function checkUnits(): void {
  if (!isHere('systemd-analyze', ['--version'])) return skip('systemd', 'systemd-analyze')
  for (const name of readdirSync(join(folder, 'deploy/systemd'))) {
    const file = join(folder, 'deploy/systemd', name)
    // systemd-analyze also asks whether the program exists, and it is not installed here.
    const unit = readFileSync(file, 'utf8').replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')
    writeFileSync(file, unit)
    const checked = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    report(`systemd-analyze verify ${name}`, checked.status === 0, checked.stderr)
  }
}

function checkPrometheus(): void {
  if (!isHere('promtool', ['--version'])) return skip('Prometheus', "promtool (Debian's package prometheus)")
  const file = join(folder, 'deploy/monitoring/prometheus.yaml')
  const rules = join(folder, 'docs/monitoring/alerts.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('/etc/prometheus/alerts.yaml', rules))
  const checked = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' })
  report('promtool check config prometheus.yaml', checked.status === 0, checked.stdout + checked.stderr)
}

function isHere(program: string, words: readonly string[]): boolean {
  return spawnSync(program, words).status === 0
}

function skip(what: string, program: string): void {
  counts.skipped++
  console.log(`skipped ${what}: ${program} is not on this machine`)
}

function report(what: string, isGood: boolean, why: string): void {
  counts[isGood ? 'passed' : 'failed']++
  console.log(isGood ? `passed  ${what}` : `failed  ${what}: ${why.trim()}`)
}
