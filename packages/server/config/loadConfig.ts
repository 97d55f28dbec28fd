/** The configuration file (R-config-1): YAML, `${NAME}` from the environment, every fault reported at once. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isScalar, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml'
import { chainFrom, MAX } from './chainDocument.ts'
import { CHAIN_TABLE } from './chainTable.ts'
import type { Config } from './config.ts'
import { Secret } from '../ops/secret.ts'
import { coverageFrom } from './coverageDocument.ts'
import { type Fault, join, Shape } from './shape.ts'

/** A file with more faults than this is probably not a configuration: the first ones show that. */
const FAULTS_SHOWN = 100

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults
      .slice(0, FAULTS_SHOWN)
      .map(({ path, received, expected }) => `  ${path}: received ${received}, expected ${expected}`)
    if (faults.length > FAULTS_SHOWN) lines.push(`  and ${faults.length - FAULTS_SHOWN} more`)
    super(`${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`)
    this.faults = faults
  }
}

type Environment = Readonly<Record<string, string | undefined>>

export function loadConfig(file: string, environment: Environment): Config {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(file, [
      {
        path: 'file',
        received: 'nothing that can be read',
        expected: 'a configuration file; `npm start` writes one for the local world',
      },
    ])
  }
  const shape = new Shape()
  const filled = text
    .split('\n')
    .map(line => line.slice(0, commentStart(line)))
    .join('\n')
    .replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const value = environment[name]
      if (value === undefined) shape.fault(`\${${name}}`, undefined, `an environment variable ${name}`)
      else shape.hide(value)
      return value ?? ''
    })
  let document: unknown
  try {
    document = parsed(filled)
    // An alias may refer to a node that contains it, which would never end.
    JSON.stringify(document)
  } catch (failure) {
    throw new ConfigError(file, [{ path: 'file', received: notYaml(failure), expected: 'YAML' }])
  }
  const config = configFrom(shape, document, dirname(resolve(file)))
  if (shape.faults.length > 0) throw new ConfigError(file, shape.faults)
  return config
}

function parsed(text: string): unknown {
  const lineCounter = new LineCounter()
  // The parser would compare every key with all earlier ones: ten thousand of them take seconds.
  const document = parseDocument(text, { lineCounter, logLevel: 'error', uniqueKeys: false })
  const [failure] = document.errors
  if (failure !== undefined) throw failure
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) throw repeatedKey(key.range?.[0] ?? 0, lineCounter)
        seen.add(key.value)
      }
    },
  })
  return document.toJS()
}

function repeatedKey(at: number, lines: LineCounter): YAMLParseError {
  const failure = new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique')
  failure.linePos = [lines.linePos(at)]
  return failure
}

/** The parser's message without the text it quotes, which may be a secret. */
function notYaml(failure: unknown): string {
  if (!(failure instanceof YAMLParseError)) return 'aliases without an anchor, without an end or too many'
  const [place] = failure.linePos ?? []
  const where = place === undefined ? '' : ` at line ${place.line}, column ${place.col}`
  return `${failure.code.toLowerCase().replaceAll('_', ' ')}${where}`
}

/** Where a comment begins, in which variables are not expanded: at a `#` after a blank, outside quotes. */
function commentStart(line: string): number {
  let quote: string | null = null
  for (let at = 0; at < line.length; at++) {
    const [letter, before] = [line[at] as string, line[at - 1] ?? ' ']
    if (quote !== null) quote = letter === quote ? null : quote
    else if ((letter === '"' || letter === "'") && /[\s[{,:]/.test(before)) quote = letter
    else if (letter === '#' && /\s/.test(before)) return at
  }
  return line.length
}

/** `ASSAY_RPC_1_SECOND` and similar names are for use inside a file. */
const SHORT_CUT = /^ASSAY_RPC_(?!\d+_)(.*)$/

/** Whether the environment names endpoints of built-in chains. */
export const hasShortCut = (environment: Environment): boolean =>
  Object.entries(environment).some(([name, value]) => SHORT_CUT.test(name) && value !== undefined)

/**
 * `ASSAY_RPC_<chain_id>=url[,url]` serves that chain from the built-in table, without a file. Faults name the variable.
 */
export function environmentConfig(
  environment: Environment,
  service: { readonly folder: string; readonly port?: number; readonly database?: string },
): Config {
  const shape = new Shape()
  const names: string[] = []
  const chains: object[] = []
  for (const [name, value] of Object.entries(environment).sort()) {
    const id = SHORT_CUT.exec(name)?.[1]
    if (id === undefined || value === undefined) continue
    const known = Object.keys(CHAIN_TABLE)
    if (!known.includes(id)) {
      shape.fault(name, id, `ASSAY_RPC_ and one of ${known.join(', ')}; configure other chains in a file`)
      continue
    }
    names.push(name)
    const endpoints = value.split(',').map((url, at) => ({ name: `rpc-${at + 1}`, url }))
    chains.push({ chain_id: Number(id), endpoints })
  }
  if (!hasShortCut(environment))
    shape.fault('ASSAY_RPC_1', undefined, 'ASSAY_RPC_<chain_id>=url[,url], or a file with --config')
  // Having no chain left then is not another fault.
  if (chains.length === 0) throw new ConfigError('the environment', shape.faults)
  const document = {
    ...(service.port === undefined ? {} : { listen: { port: service.port } }),
    ...(service.database === undefined ? {} : { store: `sqlite:${service.database}` }),
    chains,
  }
  const config = configFrom(shape, document, resolve(service.folder))
  const faults = shape.faults.map(fault => ({
    ...fault,
    path: fault.path.replace(/^chains\[(\d+)\](?:\.endpoints\[(\d+)\]\.url)?/, (_, chain, url) => {
      const name = names[Number(chain)] ?? ''
      return url === undefined ? name : `${name}, URL ${Number(url) + 1}`
    }),
  }))
  if (faults.length > 0) throw new ConfigError('the environment', faults)
  return config
}

/** Records must outlast the longest reorganisation, or its withdrawals could not refer to them. */
function retentionHours(shape: Shape, value: unknown, chains: Config['chains']): number {
  const hours = shape.integer(value, 'retention.hours', [1, 24 * 3650, 'hours'], 72)
  for (const { chainId, finality, blockTimeMs } of chains) {
    if (finality.kind === 'tag' || finality.depth * blockTimeMs < hours * 3_600_000) continue
    const least = Math.ceil((finality.depth * blockTimeMs) / 3_600_000) + 1
    shape.fault(
      'retention.hours',
      hours,
      `at least ${least} hours: chain ${chainId} may reorganise ${finality.depth} blocks of ${blockTimeMs} ms`,
    )
  }
  return hours
}

/** From the limit of any other answer; no block that a chain accepts needs more than a gibibyte. */
const ANSWER_MIB = [16, 1024, 'mebibytes'] as const

const HOST = /^[\w.:-]+$/
/** Addresses that only this machine can reach. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** Faults are collected on the shape. */
export function configFrom(shape: Shape, document: unknown, folder: string): Config {
  const root = shape.mapping(document, '', [
    'listen',
    'store',
    'replica',
    'admin',
    'access',
    'compat',
    'mcp',
    'retention',
    'webhooks',
    'chains',
    'coverage',
    'policy',
    'rpc',
  ])
  const listen = shape.mapping(root['listen'], 'listen', ['host', 'port', 'public_origin', 'trusted_proxies'])
  const retention = shape.mapping(root['retention'], 'retention', ['hours', 'records', 'history_days'])
  const webhooks = shape.mapping(root['webhooks'], 'webhooks', ['allow_private'])
  const admin = shape.mapping(root['admin'], 'admin', ['allow'])
  const access = shape.mapping(root['access'], 'access', ['cors_origins'])
  const rpc = shape.mapping(root['rpc'], 'rpc', ['max_answer_mib'])
  const maxAnswerMib = shape.integer(rpc['max_answer_mib'], 'rpc.max_answer_mib', ANSWER_MIB, 256)
  const chains = shape
    .list(root['chains'], 'chains')
    .map((each, at) => ({ ...chainFrom(shape, each, join('chains', at)), maxAnswerMib }))
  if (chains.length === 0) shape.fault('chains', root['chains'], 'at least one chain')
  shape.unique(chains, 'chains', 'chain_id', ({ chainId }) => chainId)
  const origin = listen['public_origin'] ?? null
  const host = shape.text(listen['host'], 'listen.host', 'a host name or address', HOST, '127.0.0.1')
  return {
    listen: {
      host,
      port: shape.integer(listen['port'], 'listen.port', [0, 65_535], 8080),
      publicOrigin:
        origin === null
          ? null
          : shape.text(
              origin,
              'listen.public_origin',
              'an origin such as https://prices.example',
              /^https?:\/\/[^/\s]+$/,
            ),
      trustedProxies: shape.networks(listen['trusted_proxies'], 'listen.trusted_proxies'),
    },
    store: storeFrom(shape, root, folder),
    admin: {
      allow:
        admin['allow'] === undefined
          ? ['127.0.0.1/32', '::1/128']
          : shape.networks(admin['allow'], 'admin.allow'),
    },
    access: { corsOrigins: originsFrom(shape, access['cors_origins']) },
    compat: compatFrom(shape, root['compat'], host),
    mcp: mcpFrom(shape, root['mcp'], host),
    retention: {
      hours: retentionHours(shape, retention['hours'], chains),
      records: shape.integer(retention['records'], 'retention.records', [1000, MAX, 'records'], 1_000_000),
      ...((retention['history_days'] ?? null) === null
        ? {}
        : {
            historyDays: shape.integer(retention['history_days'], 'retention.history_days', [
              1,
              3650,
              'days',
            ]),
          }),
    },
    webhooks: { allowPrivate: shape.networks(webhooks['allow_private'], 'webhooks.allow_private') },
    chains,
    rpc: { maxAnswerMib },
    coverage: coverageFrom(shape, root['coverage'], folder),
    policy: shape.mapping(
      root['policy'],
      'policy',
      Object.keys((root['policy'] as object | undefined) ?? {}),
    ),
  }
}

/** They always need a key. On loopback they are on by default, elsewhere they must be enabled. */
function compatFrom(shape: Shape, value: unknown, host: string): Config['compat'] {
  const compat = shape.mapping(value, 'compat', ['coingecko', 'defillama', 'udf', 'min_score', 'listen'])
  const listen = shape.mapping(compat['listen'], 'compat.listen', ['host', 'port'])
  const isLocal = LOOPBACK.test(host)
  const of = (key: string): boolean => shape.flag(compat[key], `compat.${key}`, isLocal)
  const door = {
    host: shape.text(listen['host'], 'compat.listen.host', 'a host name or address', HOST, host),
    port: shape.integer(listen['port'], 'compat.listen.port', [0, 65_535], 0),
  }
  return {
    coingecko: of('coingecko'),
    defillama: of('defillama'),
    udf: of('udf'),
    minScore: shape.integer(compat['min_score'], 'compat.min_score', [1, 10], 1),
    listen: (compat['listen'] ?? null) === null ? null : door,
  }
}

/** It always needs a key. On loopback it is on by default, elsewhere it must be enabled. */
function mcpFrom(shape: Shape, value: unknown, host: string): Config['mcp'] {
  const mcp = shape.mapping(value, 'mcp', ['enabled', 'min_score'])
  return {
    isEnabled: shape.flag(mcp['enabled'], 'mcp.enabled', LOOPBACK.test(host)),
    minScore: shape.integer(mcp['min_score'], 'mcp.min_score', [0, 10], DEFAULT_MIN_SCORE),
  }
}

/**
 * Prices with a score of 3 or less are labelled Low: one nominal stable, a past that could not be read, sources that
 * disagree.
 */
const DEFAULT_MIN_SCORE = 4

/** As a browser sends them: in lower case, without a path and without the scheme's default port. */
function originsFrom(shape: Shape, value: unknown): readonly string[] {
  const expected = 'an origin as browsers send it, such as https://app.example or http://localhost:5173'
  return shape.list(value, 'access.cors_origins').map((each, at) => {
    const path = join('access.cors_origins', at)
    const origin = shape.text(each, path, expected, /^https?:\/\/[^/\s*@]+$/)
    if (origin !== '' && URL.parse(origin)?.origin !== origin) shape.fault(path, origin, expected)
    return origin
  })
}

function storeFrom(
  shape: Shape,
  { store, replica }: Readonly<Record<string, unknown>>,
  folder: string,
): Config['store'] {
  const text = shape.text(
    store,
    'store',
    'sqlite:PATH or postgres://user:secret@host/database',
    /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
    'sqlite:./data/assay.db',
  )
  if (!text.startsWith('sqlite:'))
    return {
      address: new Secret(text),
      path: resolve(folder, 'data/assay'),
      ...(replica === undefined ? {} : { replica: new Secret(replicaFrom(shape, replica)) }),
    }
  if (replica !== undefined)
    shape.fault('replica', 'a replica of a SQLite store', 'nothing: only PostgreSQL has replicas')
  const path = resolve(folder, text.slice('sqlite:'.length))
  return { address: new Secret(`sqlite:${path}`), path }
}

const replicaFrom = (shape: Shape, value: unknown): string =>
  shape.text(value, 'replica', 'postgres://user:secret@host/database', /^postgres(ql)?:\/\/.+$/)
