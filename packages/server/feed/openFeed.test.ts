import { describe, expect, it } from 'vitest'
import type { FeedLog } from './feedLog.ts'
import { chainOfFile, closeAll, endpointsOf, follow, forwardClock, keep } from './testing/following.ts'
import type { Consumer } from './testing/consumer.ts'
import { latest, mine, startLocalChain } from './testing/localChain.ts'
import { pass, startRpcProxy, without } from './testing/rpcProxy.ts'
import { startTcpProxy } from './testing/tcpProxy.ts'

const chain = await chainOfFile(1)

const hasReasons =
  (...reasons: readonly string[]) =>
  ({ health }: Pick<Consumer, 'health'>): boolean =>
    health?.reasons.join() === reasons.join()

describe('opening', () => {
  it('with endpoints of other chains only fails at once, with the expected and received chain of each', async () => {
    const { genesisHash } = chain.config()
    const other = `0x${'ab'.repeat(32)}` as const
    const endpoints = endpointsOf(chain.anvil.url, chain.anvil.wsUrl)
    for (const [wrong, sentence] of [
      [
        { genesisHash: other },
        `expected chain 31337 with genesis ${other}, received chain 31337 with genesis`,
      ],
      [{ chainId: 56 }, `expected chain 56 with genesis ${genesisHash}, received chain 31337`],
    ] as const) {
      const lines: string[] = []
      const log: FeedLog = (_level, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`)
      const consumer = await follow(chain, { log, config: { ...wrong, endpoints } })
      await consumer.until('health', ({ health }) => health !== undefined)
      expect(consumer.health).toMatchObject({
        status: 'UNAVAILABLE',
        reasons: ['NO_ENDPOINT', 'NO_VERIFIED_HEAD'],
        endpoints: [{ status: 'WRONG_CHAIN' }, { status: 'WRONG_CHAIN' }],
      })
      for (const name of ['node-1', 'node-2'])
        expect(lines.join('\n')).toContain(`endpoint ${name}: ${sentence}`)
      expect(lines.join('\n')).not.toContain(`${chain.anvil.port}`)
      await closeAll()
    }
  })

  it('F32: with endpoints that are down is UNAVAILABLE at once and continues by itself when one recovers', async () => {
    const late = keep(await startLocalChain())
    const away = keep(await startTcpProxy(0))
    const [host, key] = [`127.0.0.1:${away.port}`, '?key=secret-key']
    const endpoints = endpointsOf(`http://${host}/${key}`, `ws://${host}/${key}`)
    const lines: string[] = []
    const log: FeedLog = (_level, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`)
    const { clock, forward } = forwardClock()
    const consumer = await follow(late, { clock, log, config: { endpoints } })
    await consumer.until('health', ({ health }) => health !== undefined)
    expect(consumer.health).toMatchObject({
      status: 'UNAVAILABLE',
      reasons: ['NO_ENDPOINT', 'NO_VERIFIED_HEAD'],
      head: null,
      processed: null,
    })
    // An hour later it is still said, every 15 s.
    forward(3_600_000)
    const said = consumer.healths.length
    await consumer.until('another', ({ healths }) => healths.length > said)
    expect(consumer.health?.reasons[0]).toBe('NO_ENDPOINT')
    expect(lines.join('\n')).toMatch(/endpoint node-1: eth_chainId failed: ECONN/)
    expect(JSON.stringify(consumer.items) + lines.join('\n')).not.toMatch(/secret-key|127\.0\.0\.1/)
    away.target = late.anvil.port
    // An endpoint is left alone for up to half a minute.
    forward(30_000)
    await late.rpc('evm_increaseTime', 3630)
    await mine(late)
    await consumer.untilTip(await latest(late))
    await consumer.until('HEALTHY', ({ health }) => health?.status === 'HEALTHY')
  })

  it('continues with the right endpoints and shows the others', async () => {
    const wrong = keep(await startLocalChain({ chainId: 31_339 }))
    const consumer = await follow(chain, {
      config: { endpoints: endpointsOf(wrong.anvil.url, chain.anvil.url) },
    })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    // The right one may be followed before the other has said which chain it is of.
    await consumer.until(
      'health with both',
      ({ health }) => health?.status === 'HEALTHY' && health.endpoints[0]?.status !== 'FAILING',
    )
    expect(consumer.health?.endpoints.map(({ name, status }) => [name, status])).toEqual([
      ['node-1', 'WRONG_CHAIN'],
      ['node-2', 'OK'],
    ])
  })
})

describe('R-health-3: health items', () => {
  it('are delivered on every change of status and every 15 s, and never with an address', async () => {
    const { clock, forward } = forwardClock()
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const endpoints = endpointsOf(`${proxy.url}/a-secret-key`, chain.anvil.wsUrl)
    await mine(chain)
    const consumer = await follow(chain, { clock, config: { endpoints } })
    await consumer.until('the first', ({ health }) => health?.status === 'HEALTHY')
    const said = consumer.healths.length
    forward(15_000)
    await consumer.until('another', ({ healths }) => healths.length > said)
    expect(consumer.health?.reasons).toEqual([])
    forward(10_000)
    // The chain counts as stalled once both endpoints have told that they know no later block.
    await consumer.until('HEAD_OLD and CHAIN_STALLED', hasReasons('HEAD_OLD', 'CHAIN_STALLED'))
    expect(consumer.health?.status).toBe('DEGRADED')
    forward(100_000)
    await consumer.until('NO_VERIFIED_HEAD', hasReasons('NO_VERIFIED_HEAD', 'CHAIN_STALLED'))
    expect(consumer.health?.status).toBe('UNAVAILABLE')
    expect(consumer.health?.endpoints.map(({ name }) => name)).toEqual(['node-1', 'node-2'])
    expect(JSON.stringify(consumer.items)).not.toMatch(/secret|127\.0\.0\.1|:\/\//)
  })

  it('name what an endpoint refuses, and omit an endpoint that refuses nothing', async () => {
    const refusing = keep(await startRpcProxy(chain.anvil.url, without('eth_getBlockReceipts')))
    const endpoints = endpointsOf(refusing.url)
    await mine(chain)
    const consumer = await follow(chain, { config: { endpoints } })
    await consumer.until('health', ({ health }) => health !== undefined)
    expect(consumer.health?.endpoints[0]?.lacks).toEqual(['eth_getBlockReceipts refused (-32601)'])
    const whole = await follow(chain, { config: { endpoints: endpointsOf(chain.anvil.url) } })
    await whole.until('health', ({ health }) => health !== undefined)
    expect(whole.health?.endpoints[0]).not.toHaveProperty('lacks')
  })

  it('are absent at the start, and UNAVAILABLE when no head arrives', async () => {
    const { clock, forward } = forwardClock()
    const proxy = keep(
      await startRpcProxy(chain.anvil.url, (call, fetchAnswer) =>
        call.params[0] === 'latest' ? { error: { code: -32000, message: 'not now' } } : fetchAnswer(),
      ),
    )
    const consumer = await follow(chain, { clock, config: { endpoints: endpointsOf(proxy.url) } })
    await expect
      .poll(() => proxy.calls.filter(({ params }) => params[0] === 'latest').length)
      .toBeGreaterThan(2)
    expect(consumer.items).toEqual([])
    forward(10_000)
    await consumer.until('UNAVAILABLE', ({ health }) => health?.reasons[0] === 'NO_VERIFIED_HEAD')
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
  })
})

describe('closing', () => {
  it('ends the items of a waiting consumer, and may be called twice', async () => {
    const consumer = await follow(chain)
    await consumer.untilTip(await latest(chain))
    await closeAll()
    await expect(consumer.until('anything', () => false)).rejects.toThrow('the feed ended')
    await consumer.close()
  })
})
