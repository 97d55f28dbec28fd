/** The examples under `deploy/`: what can be known of them without a container engine, systemd or a cluster. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadConfig } from '@assay/server/config'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ROLES } from './commands/serve.ts'

const DEPLOY = resolve(import.meta.dirname, '../../deploy')
const text = (file: string) => readFileSync(join(DEPLOY, file), 'utf8')

test('the program accepts the configuration, with every variable it names', () => {
  const names = [...text('assay.yaml').matchAll(/^(?!\s*#).*?\$\{(\w+)\}/gm)].map(match => match[1] as string)
  const environment = Object.fromEntries(names.map(name => [name, 'https://node.example/key']))
  const config = loadConfig(join(DEPLOY, 'assay.yaml'), {
    ...environment,
    ASSAY_DATABASE: 'postgres://assay:secret@postgres/assay',
    ASSAY_REPLICA: 'postgres://assay:secret@replica/assay',
    ASSAY_ORIGIN: 'https://prices.example',
  })
  expect(config.chains.map(({ chainId }) => chainId)).toEqual([1, 56])
})

test('every process starts with an existing role, on the configuration that is mounted', () => {
  const compose = parse(text('compose.yaml'), { merge: true }) as {
    services: Record<string, { command?: string[]; volumes?: string[] }>
  }
  const { resources } = parse(text('kustomization.yaml')) as { resources: string[] }
  const pods = resources.flatMap(file => parseAllDocuments(text(file)).map(each => each.toJSON())) as {
    kind: string
    spec: { template: { spec: { containers: { args: string[] }[] } } }
  }[]
  const units = readdirSync(join(DEPLOY, 'systemd')).map(
    file => /^ExecStart=\S+\/assay (.*)$/m.exec(text(`systemd/${file}`))?.[1]?.split(' ') ?? [],
  )
  const commands = [
    ...Object.values(compose.services).flatMap(({ command }) => (command === undefined ? [] : [command])),
    ...pods
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap(({ spec }) => spec.template.spec.containers.map(({ args }) => args)),
    ...units,
  ]
  expect(commands).toHaveLength(4 + 2 + 2)
  for (const [command, option, file, flag, role, ...more] of commands) {
    expect([command, option, file, flag]).toEqual(['serve', '--config', '/etc/assay/assay.yaml', '--role'])
    expect(ROLES).toContain(role)
    expect(['', '--chain %i', '--port %i']).toContain(more.join(' '))
  }
})

test('every file that compose.yaml mounts exists, and Prometheus may read the metrics', () => {
  const { services } = parse(text('compose.yaml'), { merge: true }) as {
    services: Record<string, { volumes?: string[]; networks?: { default: { ipv4_address: string } } }>
  }
  const mounted = Object.values(services)
    .flatMap(({ volumes = [] }) => volumes.map(each => each.split(':')[0] as string))
    .filter(path => path.startsWith('.'))
  expect(mounted.length).toBeGreaterThan(5)
  for (const path of mounted) expect(existsSync(join(DEPLOY, path)), path).toBe(true)
  const { admin } = parse(text('assay.yaml')) as { admin: { allow: string[] } }
  expect(admin.allow).toContain(`${services['prometheus']?.networks?.default.ipv4_address}/32`)
  const { scrape_configs } = parse(text('monitoring/prometheus.yaml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[]
  }
  const targets = scrape_configs.flatMap(each => each.static_configs.flatMap(({ targets: own }) => own))
  expect(targets.filter(each => services[each.replace(':8080', '')] === undefined)).toEqual([])
})

test('a file that could not be run says so', () => {
  const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
  for (const { parentPath, name } of files)
    if (name !== 'README.md' && join(parentPath, name) !== join(DEPLOY, 'assay.yaml'))
      expect(readFileSync(join(parentPath, name), 'utf8').split('\n')[0], name).toContain('Not run here')
})
