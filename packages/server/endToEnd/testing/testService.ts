/**
 * The service on a test chain: worker thread, SQLite, HTTP and WebSocket, on a free port with a database of its
 * own. Waiting reads the store over a second connection, so that it costs no one's quota.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient, type Envelope, type Health } from '@assay/sdk'
import { incidentDoor, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import type { Scope } from '../../access/access.ts'
import { loadConfig } from '../../commands/config.ts'
import { type Clock, systemClock } from '../../ops/clock.ts'
import type { Config } from '../../config/config.ts'
import { type Service, startService } from '../../service.ts'
import type { MaintenanceStore } from '../../store/maintenance.ts'
import type { Store } from '../../store/port.ts'
import { openStore } from '../../store/openStore.ts'
import { CANARY, scan } from './canary.ts'
import type { Block, Hex, TestChain } from './testChain.ts'
import { until } from './until.ts'

export type TestServiceOptions = {
  /** Tokens of the configuration by symbol; left out, all of the plan. */
  readonly tokens?: readonly string[]
  readonly pools?: readonly Hex[]
  /** Factories beside those of the plan, as the configuration file has them. */
  readonly deployments?: readonly object[]
  readonly policy?: Readonly<Record<string, unknown>>
  /** Another name for another database on the same chain. */
  readonly name?: string
  readonly clock?: Clock
  /** In place of the chain's own node. */
  readonly endpoints?: readonly string[]
  readonly publicOrigin?: string
  /** How old an answer of the stables' feeds may grow, with no grace; left out, an hour and some. */
  readonly heartbeatS?: number
  /** Left out, a free one. */
  readonly port?: number
  /** The bundle of the console; left out, none. */
  readonly consoleFolder?: string
  /** Blocks until one is final; by default as the node reports. */
  readonly finalityDepth?: number
  /** Where its store is; left out, a file named after it. */
  readonly store?: string
  /** A read replica of it. */
  readonly replica?: string
  /** Sources of how deep other markets are; left out, none. */
  readonly coverage?: readonly object[]
  /** The section `compat` of the configuration; left out, its defaults. */
  readonly compat?: Readonly<Record<string, unknown>>
  /** Its section `mcp`; left out, what holds by default. */
  readonly mcp?: object
  /** Its section `access`; left out, no other origin. */
  readonly access?: object
  /** Whether operators may cause incidents on its chain. */
  readonly hasIncidents?: boolean
}

/** Started, and every token of the configuration evaluated. */
export async function startTestService(
  chain: TestChain,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const service = await openTestService(chain, options)
  await service.untilEvaluated()
  return service
}

/** Started, and nothing waited for. */
export async function openTestService(
  chain: TestChain,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const config = loadConfig(writeConfig(chain, options), {})
  const faults: string[] = []
  const lines: string[] = []
  const hear = (message: string, fields: Record<string, unknown> = {}) => {
    const line = `${message} ${JSON.stringify(fields)}`
    scan('a log', line)
    lines.push(line)
    return line
  }
  const note = (message: string, fields: Record<string, unknown> = {}) => {
    const line = hear(message, fields)
    if (fields['thread'] === undefined) faults.push(line)
  }
  const service = await startService({
    config,
    clock: options.clock ?? systemClock,
    log: { info: hear, warn: note, error: note },
    ...(options.consoleFolder === undefined ? {} : { consoleFolder: options.consoleFolder }),
    ...(options.hasIncidents === true ? { world: incidentDoor({ chains: [chain.world] }) } : {}),
  })
  const store = await openStore(config.store.address.reveal())
  return new TestService(chain, config, service, store, { faults, lines })
}

/** The configuration file of a service on this chain. */
export function writeConfig(chain: TestChain, options: TestServiceOptions = {}): string {
  const {
    name = 'assay',
    tokens,
    pools = [],
    policy = {},
    endpoints,
    publicOrigin,
    heartbeatS,
    port = 0,
    store,
    replica,
    finalityDepth,
    coverage = [],
    deployments = [],
    compat = {},
    mcp = {},
    access = {},
  } = options
  const document = worldConfig(
    { chains: [chain.world] },
    { port, database: join(chain.folder, `${name}.db`) },
  ) as { store: string; listen: Record<string, unknown>; chains: Record<string, unknown>[] }
  const [first] = document.chains as [Record<string, unknown>]
  if (tokens !== undefined) first['tokens'] = tokens.map(symbol => chain.token(symbol))
  if (endpoints !== undefined)
    first['endpoints'] = endpoints.map((url, at) => ({ name: `node-${at + 1}`, url }))
  for (const endpoint of first['endpoints'] as { url: string }[]) endpoint.url = withCanary(endpoint.url)
  first['pools'] = pools
  first['deployments'] = [...(first['deployments'] as object[]), ...deployments]
  if (heartbeatS !== undefined)
    for (const { usd_feed } of first['stables'] as { usd_feed: Record<string, unknown> }[])
      Object.assign(usd_feed, { heartbeat_s: heartbeatS, grace_s: 0 })
  if (store !== undefined) document.store = store
  if (finalityDepth !== undefined) first['finality'] = { depth: finalityDepth }
  if (publicOrigin !== undefined) document.listen['public_origin'] = publicOrigin
  const file = join(chain.folder, `${name}.yaml`)
  // Receivers of tests listen on this machine.
  const webhooks = { allow_private: ['127.0.0.1'] }
  const more = {
    webhooks,
    ...(replica === undefined ? {} : { replica }),
    coverage: { sources: coverage },
    policy,
    compat,
    mcp,
    access,
  }
  writeFileSync(file, stringify({ ...document, ...more }))
  return file
}

/** Every endpoint has a secret in its URL, which its node does not mind and nobody may ever see. */
const withCanary = (text: string): string => {
  const url = new URL(text)
  url.searchParams.set('key', CANARY)
  return url.href
}

export class TestService {
  readonly chain: TestChain
  readonly config: Config
  readonly service: Service
  readonly store: Store & MaintenanceStore
  /** Warnings and errors of the main thread: a chain that had to be started again is one. */
  readonly faults: string[]
  /** All it logged, its threads included. */
  readonly lines: readonly string[]
  #consumers = 0

  constructor(
    chain: TestChain,
    config: Config,
    service: Service,
    store: Store & MaintenanceStore,
    said: { readonly faults: string[]; readonly lines: readonly string[] },
  ) {
    this.chain = chain
    this.config = config
    this.service = service
    this.store = store
    this.faults = said.faults
    this.lines = said.lines
  }

  get chainId(): number {
    return this.chain.world.plan.chainId
  }

  /** Where it listens, whatever it calls itself. */
  get url(): string {
    const { publicOrigin, host, port } = this.config.listen
    return publicOrigin === null ? this.service.url : `http://${host}:${port}`
  }

  /** A key of a consumer of its own, so that no test spends another's quota. */
  async key(scopes: readonly Scope[] = ['read', 'stream'], consumer = `consumer-${++this.#consumers}`) {
    return (await this.service.access.issue(`key of ${consumer}`, consumer, scopes, null)).key
  }

  async client(scopes?: readonly Scope[]): Promise<Client> {
    return createClient({ baseUrl: this.url, apiKey: await this.key(scopes) })
  }

  /** The whole log above a sequence. */
  async records(after = 0): Promise<Envelope[]> {
    const records: Envelope[] = []
    for (let position = after; ; ) {
      const page = await this.store.readLog(position, 1000, null)
      if (page.length === 0) return records
      for (const { envelope, sequence } of page) {
        records.push(JSON.parse(envelope) as Envelope)
        position = sequence
      }
    }
  }

  async head(): Promise<number> {
    return (await this.store.readBounds()).head
  }

  /** The first record above a sequence that `is` what is asked for. */
  untilRecord<Found extends Envelope>(
    what: string,
    after: number,
    is: ((record: Envelope) => record is Found) | ((record: Envelope) => boolean),
  ): Promise<Found> {
    return until(what, async () => (await this.records(after)).find(is) as Found | undefined).then(
      async found => {
        await this.untilSeen()
        return found
      },
    )
  }

  /** The block is committed, with everything derived from it. */
  async untilTip({ hash, number }: Pick<Block, 'hash' | 'number'>): Promise<void> {
    await until(`block ${number} ${hash} committed`, async () => {
      const tip = (await this.store.readCheckpoint(this.chainId))?.tip
      return tip?.hash === hash
    })
    await this.untilSeen()
  }

  /** The API has seen what is committed by now. */
  async untilSeen(): Promise<void> {
    const head = await this.head()
    await until(`the API at sequence ${head}`, () => this.service.seen() >= head)
  }

  /**
   * The feed is healthy, with a block of this moment. A chain that stopped for 20 s, or whose worker got no
   * processor, is not; it recovers only after some blocks of its time.
   */
  async untilWell(): Promise<void> {
    await this.untilTip(await this.chain.mineNow())
    await this.chain.untilMining(
      'a feed that is well',
      async () => (await this.health())?.status === 'HEALTHY',
    )
    await this.untilTip(await this.chain.head())
  }

  /** From the store, as its worker last said, so that waiting costs no quota; null before it did. */
  async health(): Promise<Health | null> {
    const text = await this.store.readHealth(this.chainId)
    return text === null ? null : (JSON.parse(text) as Health)
  }

  /** Every token of the configuration has its first record. */
  async untilEvaluated(): Promise<void> {
    const wanted = this.config.chains.flatMap(({ tokens }) => tokens)
    await until('every token of the configuration evaluated', async () => {
      for (const token of wanted) if ((await this.store.readQuote(this.chainId, token)) === null) return false
      return true
    })
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.service.close()
  }
}
