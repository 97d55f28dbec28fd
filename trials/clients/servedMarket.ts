/** The service on the market of a real client, in this process, used through the SDK as a customer would. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  AssayError,
  type Client,
  createClient,
  type Envelope,
  type Health,
  type PricedQuote,
} from '@assay/sdk'
import { loadConfig } from '../../packages/server/commands/config.ts'
import type { Config } from '../../packages/server/config/config.ts'
import { type Service, startService } from '../../packages/server/service.ts'
import { cursorAfter, Heard } from '../../packages/server/endToEnd/testing/heard.ts'
import { ROOMY } from '../../packages/server/endToEnd/testing/roomy.ts'
import { until } from '../../packages/server/endToEnd/testing/until.ts'
import { worldConfig } from '../../packages/world/local/worldConfig.ts'
import type { Market } from './market.ts'

/** Guards against a hang: the slowest step waits for 32 blocks of a second each. */
const PATIENCE_MS = 90_000

export class ServedMarket {
  readonly market: Market
  readonly config: Config
  /** Warnings and errors of the service, with how often each occurred. */
  readonly warnings = new Map<string, number>()
  /** Records one client received over all its connections. */
  readonly heard: Envelope[] = []
  #service: Service | null = null
  #client: Client | null = null

  /** `name` is the name of its files; with `isHttpAlone` it has no WebSocket endpoint. */
  constructor(market: Market, folder: string, name: string, isHttpAlone = false) {
    this.market = market
    const file = join(folder, `${name}.yaml`)
    const { url, wsUrl } = market.chain
    const chains = [{ ...market.chain, wsUrl: isHttpAlone ? url : wsUrl }]
    const document = worldConfig({ chains }, { port: 0, database: join(folder, `${name}.db`) })
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify(document))
    this.config = loadConfig(file, {})
  }

  get chainId(): number {
    return this.market.chain.plan.chainId
  }

  get client(): Client {
    if (this.#client === null) throw new Error('the service is not running')
    return this.#client
  }

  async start(): Promise<void> {
    const warn = (message: string, fields: Record<string, unknown> = {}) => {
      const cause = fields['reason'] ?? fields['error']
      const line = typeof cause === 'string' ? `${message}: ${cause}` : message
      this.warnings.set(line, (this.warnings.get(line) ?? 0) + 1)
    }
    const log = { info: () => undefined, warn, error: warn }
    const service = await startService({ config: this.config, log })
    this.#service = service
    const scopes = ['read', 'stream', 'admin'] as const
    const { key } = await service.access.issue('clients', 'clients', scopes, null)
    this.#client = createClient({ baseUrl: service.url, apiKey: key })
    await this.#client.admin.setLimits('clients', ROOMY)
  }

  async stop(): Promise<void> {
    const service = this.#service
    this.#service = null
    await service?.close()
  }

  /** Null while there is no price, or the chain is not up yet. */
  async quote(symbol: string): Promise<PricedQuote | null> {
    try {
      const wanted = { chain_id: this.chainId, token_address: this.market.token(symbol) }
      const quote = await this.client.quoteToken(wanted)
      return quote.state === 'PRICED' ? quote : null
    } catch (failure) {
      if (failure instanceof AssayError && failure.code === 'RPC_UNAVAILABLE') return null
      throw failure
    }
  }

  until<Value>(
    what: string,
    look: () => Promise<Value | null | false> | Value | null | false,
  ): Promise<Value> {
    return until(what, look, PATIENCE_MS)
  }

  untilPriced(symbol: string, blockNumber = 0): Promise<PricedQuote> {
    return this.until(`${symbol} priced at block ${blockNumber} or above`, async () => {
      const quote = await this.quote(symbol)
      return quote !== null && quote.as_of.block_number >= blockNumber && quote
    })
  }

  untilHealth(what: string, isIt: (health: Health) => boolean): Promise<Health> {
    return this.until(what, async () => {
      const health = await this.client.fetchHealth({ chain_id: this.chainId }).catch(() => null)
      return health !== null && isIt(health) && health
    })
  }

  /** Resumes after the last record received and reads up to a given record. */
  async hear(what: string, isLast: (record: Envelope) => boolean): Promise<void> {
    const resumeCursor = await cursorAfter(this.client, this.chainId, this.heard.at(-1)?.stream_sequence ?? 0)
    const stream = new Heard(this.client, { filter: { chain_ids: [this.chainId] }, resumeCursor })
    try {
      await this.until(what, () => stream.outcome !== null || stream.records.some(isLast))
    } finally {
      await stream.close()
      this.heard.push(...stream.records)
    }
  }
}
