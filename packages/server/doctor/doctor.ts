/**
 * `assay doctor`: checks what every configured endpoint serves and supports, all at once. Every finding names the
 * configuration key concerned and what to do. Nothing is written anywhere.
 */
import { parseAddress } from '../feed/transport/address.ts'
import { type Connection, limitsOf } from '../feed/transport/connection.ts'
import { Endpoint } from '../feed/endpoints/endpoint.ts'
import { isFeedError } from '../feed/feedError.ts'
import { openHttp } from '../feed/transport/httpConnection.ts'
import { openWebSocket } from '../feed/transport/webSocketConnection.ts'
import { type Clock, systemClock } from '../ops/clock.ts'
import { type ChainConfig, type Config, dollarFeeds } from '../config/config.ts'
import type { Hex } from '../ops/hex.ts'
import type { Secret } from '../ops/secret.ts'
import { configWarnings } from '../config/warnings.ts'
import { probeBatches, probeReceipts, probeState } from './abilityProbes.ts'
import { AnswerSizes } from './answerSizes.ts'
import { type Check, connectionFault, fail, ok } from './check.ts'
import { feedFaults } from './dollarFeed.ts'
import { factoryFaults } from './factories.ts'
import { type Head, Probes } from './probes.ts'
import { probeProof } from './proofProbe.ts'
import { neededPerSecond, probeRate } from './rateProbe.ts'

export type EndpointReport = {
  readonly name: string
  /** The configuration key of its URL. */
  readonly key: string
  readonly status: Check['status']
  readonly checks: readonly Check[]
}

export type ChainReport = {
  readonly chain_id: number
  readonly name: string
  readonly endpoints: readonly EndpointReport[]
  /** Faults of the chain's own section that the chain reveals, such as a factory without code. */
  readonly faults: readonly string[]
  /** Entries of the section that do less than they should, but price nothing. */
  readonly warnings: readonly string[]
}

export type Diagnosis = {
  /** False when an endpoint fails or a chain's section is wrong. */
  readonly healthy: boolean
  readonly chains: readonly ChainReport[]
  readonly warnings: readonly string[]
}

export type DoctorOptions = {
  /** `identity` checks only what must be right before a start: chain, genesis, factories. */
  readonly scope?: 'all' | 'identity'
  readonly clock?: Clock
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export async function diagnose(config: Config, options: DoctorOptions = {}): Promise<Diagnosis> {
  const chains = await Promise.all(
    config.chains.map((chain, at) => examineChain(config, chain, `chains[${at}]`, options)),
  )
  const isBad = ({ endpoints, faults }: ChainReport) =>
    faults.length > 0 || endpoints.some(({ status }) => status === 'fail')
  const warnings = [...configWarnings(config), ...chains.flatMap(chain => chain.warnings)]
  return { healthy: !chains.some(isBad), chains, warnings }
}

async function examineChain(
  config: Config,
  chain: ChainConfig,
  path: string,
  options: DoctorOptions,
): Promise<ChainReport> {
  const examined = await Promise.all(
    chain.endpoints.map(endpoint => examineEndpoint(config, chain, endpoint, options)),
  )
  const endpoints = examined.map(({ checks }, at): EndpointReport => {
    const statuses = checks.map(({ status }) => status)
    return {
      name: chain.endpoints[at]?.name ?? '',
      key: `${path}.endpoints[${at}].url`,
      status: statuses.includes('fail') ? 'fail' : statuses.includes('warn') ? 'warn' : 'ok',
      checks,
    }
  })
  // Any endpoint of the right chain can check its contracts.
  const without = examined.find(({ withoutCode }) => withoutCode !== null)?.withoutCode ?? []
  const feeds = examined.find(({ feedFaults: found }) => found !== null)?.feedFaults ?? []
  const absent = ({ key, address }: Placed) =>
    `${path}.${key}: there is no code at ${address} on chain ${chain.chainId}; check the address, or remove the entry`
  const faults = [
    ...without.filter(({ isPricedBy }) => isPricedBy).map(absent),
    ...feeds.map(fault => `${path}.${fault}`),
  ]
  const warnings = without.filter(({ isPricedBy }) => !isPricedBy).map(absent)
  return { chain_id: chain.chainId, name: chain.name, endpoints, faults, warnings }
}

/** A factory that only names a family prices nothing. */
type Placed = { readonly key: string; readonly address: Hex; readonly isPricedBy: boolean }
/** Results about the chain's own section are null when the endpoint could not be used. */
type Examined = {
  readonly checks: readonly Check[]
  readonly withoutCode: readonly Placed[] | null
  readonly feedFaults: readonly string[] | null
}
const unasked = (checks: readonly Check[]): Examined => ({ checks, withoutCode: null, feedFaults: null })

async function examineEndpoint(
  config: Config,
  chain: ChainConfig,
  { name, url }: { readonly name: string; readonly url: Secret },
  options: DoctorOptions,
): Promise<Examined> {
  const signal = options.signal ?? new AbortController().signal
  const usual = limitsOf(chain)
  const limits = { ...usual, deadlineMs: options.deadlineMs ?? usual.deadlineMs }
  const sizes = new AnswerSizes(limits)
  const onAnswer = sizes.note
  let connection: Connection
  try {
    const address = parseAddress(name, url)
    const opening = { name, address, limits, onAnswer }
    connection = address.kind === 'http' ? openHttp(opening) : await openWebSocket(opening, signal)
  } catch (error) {
    return unasked([connectionFault(error)])
  }
  const { chainId, genesisHash, checkpoint } = chain
  const identity = { chainId, genesisHash, checkpoint }
  const log = () => {}
  const { proof } = chain
  const followed = { name, url, identity, proof, clock: systemClock, log, limits, onAnswer }
  const endpoint = new Endpoint({ ...followed, purpose: 'probe' })
  try {
    const probes = new Probes(chain, name, connection, signal)
    return await examine(config, chain, { probes, connection, endpoint, sizes }, signal, options)
  } catch (error) {
    if (!isFeedError(error)) throw error
    return unasked([connectionFault(error)])
  } finally {
    endpoint.close()
    connection.close()
  }
}

/** An endpoint for bare calls, and as the service uses it. */
type Examinee = {
  readonly probes: Probes
  readonly connection: Connection
  readonly endpoint: Endpoint
  readonly sizes: AnswerSizes
}

async function examine(
  config: Config,
  chain: ChainConfig,
  { probes, connection, endpoint, sizes }: Examinee,
  signal: AbortSignal,
  { scope = 'all', clock = systemClock }: DoctorOptions,
): Promise<Examined> {
  const chainId = await probes.chainId()
  const identity = [identityOf(config, chain, chainId), await probes.genesis()]
  if (identity.some(({ status }) => status === 'fail')) return unasked(identity)
  const head = await probes.head()
  const call = (to: Hex, data: Hex) => probes.call(to, data, head)
  const [withoutCode, ...found] = await Promise.all([
    codeless(chain, probes, head),
    feedFaults(chain, (to, data) => call(to, data).catch(unsaid)),
    factoryFaults(chain, { call }, head, signal),
  ])
  const faults = found.flat()
  if (scope === 'identity') {
    // A single endpoint that cannot prove blocks is worth a warning at the start.
    const isAlone = chain.endpoints.length === 1
    const proof = isAlone ? [await probeProof(chain, endpoint, head.number, signal)] : []
    return { checks: [...identity, ...proof], withoutCode, feedFaults: faults }
  }
  const receipts = await probeReceipts(endpoint, head.hash, signal)
  const heads = await probes.heads(signal)
  const needed = neededPerSecond(chain, heads.value === 'pushed', receipts)
  return {
    checks: [
      ...identity,
      probes.age(head, clock.nowMs()),
      await probes.finality(head),
      receipts.check,
      await probeProof(chain, endpoint, head.number, signal),
      await probes.logs(head),
      await probeState(endpoint, head.hash, signal),
      await probes.archive(head),
      heads,
      await probes.latency(clock),
      await probeBatches(endpoint, signal),
      await probeRate(connection, needed, clock, signal),
      sizes.check(),
    ],
    withoutCode,
    feedFaults: faults,
  }
}

/** Treats a failed call like a contract that does not answer. */
function unsaid(error: unknown): null {
  if (!isFeedError(error)) throw error
  return null
}

function identityOf(config: Config, chain: ChainConfig, received: number): Check {
  if (received === chain.chainId) return ok('chain_id', `${received}`)
  const other = config.chains.findIndex(({ chainId }) => chainId === received)
  return fail(
    'chain_id',
    `it serves chain ${received}, not ${chain.chainId}`,
    other === -1
      ? `use a node of chain ${chain.chainId}`
      : `that is the chain of chains[${other}]: are the endpoints of the two swapped?`,
  )
}

/** Addresses in the section that must be contracts but have no code. */
async function codeless(chain: ChainConfig, probes: Probes, head: Head): Promise<Placed[]> {
  const placed: Placed[] = [
    ...chain.deployments.map(({ factoryAddress }, at) => ({
      key: `deployments[${at}].factory_address`,
      address: factoryAddress,
    })),
    ...chain.stables.map(({ tokenAddress }, at) => ({
      key: `stables[${at}].token_address`,
      address: tokenAddress,
    })),
    ...dollarFeeds(chain).map(({ usdFeed, key }) => ({ key, address: usdFeed.address })),
    ...chain.routingAssets.map((address, at) => ({ key: `routing_assets[${at}]`, address })),
  ]
    .map(each => ({ ...each, isPricedBy: true }))
    .concat(
      (chain.unpricedFactories ?? []).map(({ factoryAddress }, at) => ({
        key: `unpriced_factories[${at}].factory_address`,
        address: factoryAddress,
        isPricedBy: false,
      })),
    )
  const hasCode = await Promise.all(placed.map(({ address }) => probes.hasCode(address, head)))
  return placed.filter((_, at) => hasCode[at] === false)
}
