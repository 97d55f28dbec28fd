/**
 * The setup of a form of the load: the service in one process over SQLite, or a writer of all chains and two API
 * nodes over one PostgreSQL, on the same chains; and keys without limits.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@assay/sdk'
import { type LocalWorld, type WorldChain, worldConfig } from '@assay/world'
import { issueKeyIn, loadConfig } from '../../packages/server/commands/config.ts'
import {
  type ChildService,
  freePort,
  startChildService,
} from '../../packages/server/endToEnd/testing/childService.ts'
import { until } from '../../packages/server/endToEnd/testing/until.ts'
import { startPostgres } from '../../packages/server/store/testing/postgresServer.ts'
import type { Trading } from './trades.ts'
import type { Role } from './usage.ts'

export type Form = 'one' | 'three'
export type Ground = {
  readonly form: Form
  /** URLs of the API nodes. */
  readonly urls: readonly string[]
  readonly keys: readonly string[]
  /** Paths of the quotes of all tokens with a price. */
  readonly paths: readonly string[]
  readonly roles: readonly Role[]
  readonly configFile: string
  /** The store, as configured in the service. */
  readonly store: string
  /** Ends the service and keeps the database; returns the parts that did not end properly. */
  stop(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Shared by readers and subscribers. */
const CONSUMERS = 4
const ROOMY = {
  units: 10_000_000,
  window_ms: 1000,
  burst: 10_000_000,
  stream_connections: 10_000,
  enrolments_per_day: 1,
}
const PRICED_MS = 120_000
/** More than a chain of a world has of either. */
const PAGE = 1000

type Processes = {
  readonly urls: readonly string[]
  readonly all: readonly ChildService[]
  readonly roles: readonly Role[]
}
type Database = { readonly store: string; readonly roles: readonly Role[]; dispose(): Promise<void> }

export async function openGround(form: Form, world: LocalWorld): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-load-'))
  const database = form === 'one' ? sqlite(folder) : await postgres()
  const configFile = join(folder, 'assay.yaml')
  const document = worldConfig(world, { port: await freePort(), database: '' })
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ ...document, store: database.store }))
  const { urls, all, roles } = await (form === 'one' ? startOne(configFile) : startThree(configFile))
  const client = (key: string) => createClient({ baseUrl: urls[0] as string, apiKey: key })
  const keys = await issueKeys(configFile)
  for (const [at] of keys.entries()) await client(keys[0] as string).admin.setLimits(`load-${at}`, ROOMY)
  const paths = await until(
    'a price on every chain',
    () => pricedPaths(client(keys[0] as string), world.chains),
    PRICED_MS,
  )
  const ended: string[] = []
  let isTold = false
  for (const child of all)
    void child.ended.then(code => {
      if (!isTold) ended.push(`a process of the service ended with ${String(code)}`)
    })
  return {
    form,
    urls,
    keys,
    paths,
    configFile,
    store: database.store,
    roles: [...roles, ...database.roles],
    async stop() {
      isTold = true
      const codes = await Promise.all(all.map(child => child.stop()))
      return [
        ...ended,
        ...codes
          .filter(code => code !== 0)
          .map(code => `a process that was asked to stop ended with ${code}`),
      ]
    },
    async close() {
      await Promise.all(all.map(child => child.kill()))
      await database.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The settings for the trades on these chains. */
export const tradingOf = ({ chains }: LocalWorld, blockMs: number): Trading => ({
  chains: chains.map(({ plan, url, seeded }) => ({ chainId: plan.chainId, url, seeded })),
  blockMs,
})

/** The thread that answers, those of the chains, and V8's own work: garbage collection and compilation. */
async function startOne(configFile: string): Promise<Processes> {
  const child = await startChildService(configFile)
  const pids = [child.pid]
  const [main, worker] = ['MainThread', 'WorkerThread']
  return {
    urls: [child.url],
    all: [child],
    roles: [
      { name: 'API', pids, threads: name => name === main },
      { name: 'chains', pids, threads: name => name === worker },
      { name: 'runtime', pids, threads: name => name !== main && name !== worker },
    ],
  }
}

async function startThree(configFile: string): Promise<Processes> {
  const chains = await startChildService(configFile, {}, ['--role', 'chain'])
  const nodes = [
    await startChildService(configFile, {}, ['--role', 'api', '--port', '0']),
    await startChildService(configFile, {}, ['--role', 'api', '--port', '0']),
  ]
  return {
    urls: nodes.map(({ url }) => url),
    all: [...nodes, chains],
    roles: [
      { name: 'API', pids: nodes.map(({ pid }) => pid) },
      { name: 'chains', pids: [chains.pid] },
    ],
  }
}

const sqlite = (folder: string): Database => ({
  store: `sqlite:${join(folder, 'assay.db')}`,
  roles: [],
  dispose: async () => undefined,
})

async function postgres(): Promise<Database> {
  const server = await startPostgres()
  return {
    store: await server.createDatabase(),
    roles: [{ name: 'database', pids: [postmasterOf(server.data)] }],
    dispose: () => server.dispose(),
  }
}

/** The first line of its own file identifies the process. */
export const postmasterOf = (data: string): number =>
  Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])

async function issueKeys(configFile: string): Promise<readonly string[]> {
  const config = loadConfig(configFile, {})
  const keys: string[] = []
  for (let at = 0; at < CONSUMERS; at++) {
    const name = `load-${at}`
    const { key } = await issueKeyIn(config, { name, consumer: name, scopes: ['read', 'stream', 'admin'] })
    keys.push(key)
  }
  return keys
}

/** Null while a chain has no price, or while pools that trade are not followed yet. */
async function pricedPaths(client: Client, chains: readonly WorldChain[]): Promise<readonly string[] | null> {
  const lists = await Promise.all(
    chains.map(async ({ plan: { chainId: chain_id }, seeded }) => {
      const { pools } = await client.fetchPools({ chain_id, limit: PAGE })
      const { tokens } = await client.fetchTokens({ chain_id, limit: PAGE })
      const isFollowed = pools.filter(({ state }) => state !== null).length >= seeded.pools.length
      return tokens
        .filter(({ state }) => isFollowed && state === 'PRICED')
        .map(({ token_address }) => `/v1/quote/token/${chain_id}/${token_address}`)
    }),
  )
  return lists.every(paths => paths.length > 0) ? lists.flat() : null
}
