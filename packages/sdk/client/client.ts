/**
 * The client: one typed call per endpoint, the stream, and the follower on top of it.
 *
 * Parameters have the names used on the wire; options of the SDK itself are a second argument.
 */
import type { PolicyRecord } from '../wire/admin.ts'
import type { ChainList, ChainPath } from '../wire/chain.ts'
import type { Cost } from '../wire/cost.ts'
import type { Exit, ExitQuery } from '../wire/exit.ts'
import type { Health } from '../wire/health.ts'
import type { CandlePage, HistoryPage, HistoryQuery } from '../wire/history.ts'
import type { Pool, PoolPage, PoolPath, PoolsQuery } from '../wire/pool.ts'
import type { PoolEventPage, PoolEventsQuery } from '../wire/poolEvent.ts'
import type {
  BatchRequest,
  BatchResponse,
  PendingQuote,
  PoolQuote,
  PoolQuoteQuery,
  TokenQuote,
  TokenQuoteQuery,
} from '../wire/quote.ts'
import type { Session, SessionInfo, SessionQuery } from '../wire/session.ts'
import type { SearchQuery, SearchResult, TokenList, TokenPath, TokensQuery } from '../wire/token.ts'
import { AssayError } from './failure.ts'
import { type AdminClient, adminClient } from './admin.ts'
import { Follower, type FollowRequest } from './follow.ts'
import { call, type CallOptions, type HttpOptions, urlOf } from './http.ts'
import { type SocketConstructor, Stream, type StreamRequest } from './stream.ts'
import { type WebhookClient, webhookClient } from './webhooks.ts'

export type ClientOptions = {
  /** The address of the service, including its path prefix if it has one. */
  readonly baseUrl: string
  /** Absent in a browser that has a session cookie. */
  readonly apiKey?: string
  readonly fetch?: typeof globalThis.fetch
  readonly WebSocket?: SocketConstructor
}

type Interval = NonNullable<HistoryQuery['interval']>

export type Client = {
  fetchChains(options?: CallOptions): Promise<ChainList>
  fetchTokens(query: TokensQuery, options?: CallOptions): Promise<TokenList>
  search(query: SearchQuery, options?: CallOptions): Promise<SearchResult>
  /** One page of the snapshot. */
  fetchPools(query?: PoolsQuery, options?: CallOptions): Promise<PoolPage>
  fetchPool(pool: PoolPath, options?: CallOptions): Promise<Pool>
  fetchPoolEvents(query: PoolPath & PoolEventsQuery, options?: CallOptions): Promise<PoolEventPage>
  quotePool(query: PoolPath & PoolQuoteQuery, options?: CallOptions): Promise<PoolQuote>
  /** PRICED, UNPRICED or PENDING, depending on `state`; errors are thrown. */
  quoteToken(query: TokenPath & Omit<TokenQuoteQuery, 'view'>, options?: CallOptions): Promise<TokenQuote>
  quoteTokens(batch: BatchRequest, options?: CallOptions): Promise<BatchResponse>
  /** The proceeds of selling a token, with the swaps to execute. */
  fetchExit(query: TokenPath & ExitQuery, options?: CallOptions): Promise<Exit | PendingQuote>
  /** The cost of moving the published price, with the cheapest plans found. */
  fetchCost(token: TokenPath, options?: CallOptions): Promise<Cost | PendingQuote>
  /** The published history of a token, over a range or at one moment. */
  fetchHistory(query: TokenPath & Omit<HistoryQuery, 'interval'>, options?: CallOptions): Promise<HistoryPage>
  /** The same history as candles; a bucket without a price is absent. */
  fetchCandles(
    query: TokenPath & HistoryQuery & { readonly interval: Interval },
    options?: CallOptions,
  ): Promise<CandlePage>
  /** The policy that records of this version were computed with. */
  fetchPolicy(policyVersion: string, options?: CallOptions): Promise<PolicyRecord>
  fetchHealth(chain: ChainPath, options?: CallOptions): Promise<Health>
  /** A session for browsers; with `chain_id`, also a cursor to resume a stream at. */
  createSession(query?: SessionQuery, options?: CallOptions): Promise<Session>
  fetchSession(options?: CallOptions): Promise<SessionInfo>
  endSession(options?: CallOptions): Promise<void>
  /** Operator calls; they need a key with scope `admin`. */
  readonly admin: AdminClient
  /** Your addresses that the service calls when a record meets a condition. */
  readonly webhooks: WebhookClient
  stream(request: StreamRequest): Stream
  follow(request: FollowRequest): Follower
}

export function createClient(options: ClientOptions): Client {
  const http: HttpOptions = {
    baseUrl: new URL(options.baseUrl.endsWith('/') ? options.baseUrl : `${options.baseUrl}/`),
    apiKey: options.apiKey ?? null,
    // A browser's fetch throws when called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
  }
  const get = <Result>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    callOptions?: CallOptions,
  ): Promise<Result> => call(http, { path, query }, callOptions)

  const client: Client = {
    fetchChains: callOptions => get('v1/chains', {}, callOptions),
    fetchTokens: (query, callOptions) => get('v1/tokens', query, callOptions),
    search: (query, callOptions) => get('v1/search', query, callOptions),
    fetchPools: (query = {}, callOptions) => get('v1/pools', query, callOptions),
    fetchPool: (pool, callOptions) => get(`v1/pools/${poolPath(pool)}`, {}, callOptions),
    fetchPoolEvents: ({ chain_id, pool_address, ...query }, callOptions) =>
      get(`v1/pools/${poolPath({ chain_id, pool_address })}/events`, query, callOptions),
    quotePool: ({ chain_id, pool_address, ...query }, callOptions) =>
      get(`v1/quote/pool/${poolPath({ chain_id, pool_address })}`, query, callOptions),
    quoteToken: ({ chain_id, token_address, ...query }, callOptions) =>
      get(`v1/quote/token/${chain_id}/${encodeURIComponent(token_address)}`, query, callOptions),
    quoteTokens: (body, callOptions) =>
      call(http, { method: 'POST', path: 'v1/quote/tokens', body }, callOptions),
    fetchExit: ({ chain_id, token_address, ...query }, callOptions) =>
      get(`v1/exit/${chain_id}/${encodeURIComponent(token_address)}`, query, callOptions),
    fetchCost: ({ chain_id, token_address }, callOptions) =>
      get(`v1/cost/${chain_id}/${encodeURIComponent(token_address)}`, {}, callOptions),
    fetchHistory: ({ chain_id, token_address, ...query }, callOptions) =>
      get(historyPath({ chain_id, token_address }), query, callOptions),
    fetchCandles: ({ chain_id, token_address, ...query }, callOptions) =>
      get(historyPath({ chain_id, token_address }), query, callOptions),
    fetchPolicy: (policyVersion, callOptions) =>
      get(`v1/policies/${encodeURIComponent(policyVersion)}`, {}, callOptions),
    fetchHealth: ({ chain_id }, callOptions) => get(`v1/chains/${chain_id}/health`, {}, callOptions),
    createSession: (query = {}, callOptions) =>
      call(http, { method: 'POST', path: 'v1/session', query }, callOptions),
    fetchSession: callOptions => get('v1/session', {}, callOptions),
    endSession: callOptions => call(http, { method: 'DELETE', path: 'v1/session' }, callOptions),
    admin: adminClient(http),
    webhooks: webhookClient(http),
    stream: request => new Stream(connect(http, options.WebSocket), request),
    follow: request => new Follower(client, request),
  }
  return client
}

const poolPath = ({ chain_id, pool_address }: PoolPath): string =>
  `${chain_id}/${encodeURIComponent(pool_address)}`

const historyPath = ({ chain_id, token_address }: TokenPath): string =>
  `v1/history/token/${chain_id}/${encodeURIComponent(token_address)}`

function connect(http: HttpOptions, given: SocketConstructor | undefined) {
  const Socket: SocketConstructor | undefined = given ?? globalThis.WebSocket
  if (Socket === undefined)
    throw new AssayError({
      code: 'NO_WEBSOCKET',
      message:
        'this runtime has no WebSocket, which the stream needs: use Node 22 or newer, or pass one to the client, as in createClient({ baseUrl, apiKey, WebSocket }) with the one of the package `ws`',
    })
  const url = urlOf(http.baseUrl, { path: 'v1/stream' }).replace(/^http/, 'ws')
  return http.apiKey === null
    ? new Socket(url)
    : new Socket(url, { headers: { authorization: `Bearer ${http.apiKey}` } })
}
