import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import { EndpointSet } from '../endpoints/endpointSet.ts'
import { HeadChoice, type SeenHead } from './headChoice.ts'
import { HeaderBook } from './headerBook.ts'
import { HeadWatch } from './headWatch.ts'
import { Lineage } from './lineage.ts'
import { blockAt, latest, type LocalChain, mine, startLocalChain } from '../testing/localChain.ts'
import { type Rule, startRpcProxy } from '../testing/rpcProxy.ts'
import { startTcpProxy } from '../testing/tcpProxy.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
  await mine(chain, 3)
})
afterAll(() => chain.close())

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

function watch(urls: readonly string[], leastMs: number, blockTimeMs = 200) {
  const controller = new AbortController()
  const endpoints = urls.map(
    (url, at) =>
      new Endpoint({
        name: `node-${at + 1}`,
        url: new Secret(url),
        identity: chain.config(),
        clock: systemClock,
        log: () => {},
      }),
  )
  const heads: SeenHead[] = []
  const shared = { endpoints: new EndpointSet(endpoints, systemClock), blockTimeMs, clock: systemClock }
  const choice = new HeadChoice({
    ...shared,
    chainId: chain.anvil.chainId,
    lineage: new Lineage(null, 64),
    book: new HeaderBook(),
    log: () => {},
    onHead: head => heads.push(head),
  })
  const heard = new HeadWatch({ ...shared, choice, silence: { leastMs, blocks: 0 } })
  const running = heard.run(controller.signal)
  open.push({
    close: async () => {
      controller.abort()
      for (const endpoint of endpoints) endpoint.close()
      await running
    },
  })
  return { heads, endpoints, isAt: (hash: string) => heads.at(-1)?.hash === hash }
}

const until = (condition: () => boolean) => expect.poll(condition, { interval: 5 }).toBe(true)

describe('the head', () => {
  it('is polled where it is not pushed', async () => {
    const { isAt } = watch([chain.anvil.url], 60_000)
    const first = await latest(chain)
    await until(() => isAt(first.hash))
    await mine(chain)
    const second = await latest(chain)
    await until(() => isAt(second.hash))
  })

  it('is pushed where it can be, without polling', async () => {
    const { isAt, endpoints } = watch([chain.anvil.wsUrl], 60_000, 60_000)
    const first = await latest(chain)
    await until(() => isAt(first.hash) && endpoints[0]?.isSubscribed === true)
    const next = async () => {
      await mine(chain)
      const { hash } = await latest(chain)
      await until(() => isAt(hash))
    }
    // A poll that was due before the subscription may still come with the first.
    await next()
    const calls = endpoints[0]?.calls.calls
    for (let blocks = 0; blocks < 3; blocks++) await next()
    expect(endpoints[0]?.calls.calls).toBe(calls)
  })

  it('is followed over a connection that was cut, with a new subscription', async () => {
    const tcp = await startTcpProxy(chain.anvil.port)
    open.push(tcp)
    const { isAt, endpoints } = watch([`ws://127.0.0.1:${tcp.port}`], 60_000)
    await until(() => endpoints[0]?.isSubscribed === true)
    tcp.cut()
    await mine(chain)
    const missed = await latest(chain)
    await until(() => isAt(missed.hash) && endpoints[0]?.isSubscribed === true)
    await mine(chain)
    const next = await latest(chain)
    await until(() => isAt(next.hash))
  })

  it('is requested when a subscription is silent, which is then renewed', async () => {
    const tcp = await startTcpProxy(chain.anvil.port)
    open.push(tcp)
    const { isAt, endpoints } = watch([`ws://127.0.0.1:${tcp.port}`], 150)
    await until(() => endpoints[0]?.isSubscribed === true)
    // Deaf to what is pushed; answers still come.
    const [endpoint] = endpoints
    if (endpoint !== undefined) endpoint.onHead = null
    const connections = tcp.accepted()
    // A poll that was due anyway may find the first of them; the next one only the watchdog can.
    const reconnections = async (): Promise<number> => {
      await mine(chain)
      return tcp.accepted() - connections
    }
    await expect.poll(reconnections, { interval: 300 }).toBeGreaterThan(0)
    const head = await latest(chain)
    await until(() => isAt(head.hash))
  })

  it('is taken from another endpoint when the first one is frozen', async () => {
    const frozen: Rule = async (call, fetchAnswer) =>
      call.params[0] === 'latest' ? { result: await blockAt(chain, 1) } : fetchAnswer()
    const proxy = await startRpcProxy(chain.anvil.url, frozen)
    open.push(proxy)
    await mine(chain, 120)
    const { isAt, endpoints } = watch([proxy.url, chain.anvil.url], 100)
    const head = await latest(chain)
    await until(() => isAt(head.hash))
    await until(() => endpoints[0]?.status === 'LAGGING')
  })

  it('is taken from another endpoint when the first one is gone', async () => {
    const tcp = await startTcpProxy(chain.anvil.port)
    const { isAt, endpoints } = watch([`http://127.0.0.1:${tcp.port}`, chain.anvil.wsUrl], 100)
    await until(() => endpoints.every(({ head }) => head !== null))
    await tcp.close()
    await mine(chain)
    const head = await latest(chain)
    await until(() => isAt(head.hash))
  })
})
