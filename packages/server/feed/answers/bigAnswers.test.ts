/** Blocks that a third party made large: read, proven and delivered, in bounded memory, over any line that is fast enough. */
import { execFile } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { fetchBlock } from '../proof/block.ts'
import { DEFAULT_LIMITS } from '../transport/connection.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import { type FatBlock, mineFat } from '../testing/fatBlock.ts'
import { endpointsOf, follow, keep, proxiedChainOfFile } from '../testing/following.ts'
import { latest, mine, type RpcBlock } from '../testing/localChain.ts'
import { drained, resultText, sendPaced } from '../testing/pacedAnswer.ts'

const MIB = 1024 * 1024
/** The promise of R-health-7, for an answer of 64 MB. */
const MOST_GROWN = 200 * MIB
const { signal } = new AbortController()

const { chain, proxy } = await proxiedChainOfFile()
const small = await latest(chain)

type Read = {
  readonly proof: string
  readonly logs: number
  readonly grownBytes: number
  readonly turns: number
  readonly kinds: readonly { readonly method: string; readonly calls: number }[]
}

/** In a process of its own, whose memory is its alone. */
async function readApart(url: string, block: RpcBlock): Promise<Read> {
  const file = fileURLToPath(new URL('../testing/readFat.ts', import.meta.url))
  const { chainId, genesisHash } = chain.config()
  const args = ['--expose-gc', file, url, `${chainId}`, genesisHash, small.hash, block.hash]
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Read
}

async function fat(spec: FatBlock): Promise<RpcBlock> {
  await mineFat(chain, spec)
  return latest(chain)
}

const callsOf = ({ kinds }: Read, method: string): number =>
  kinds.filter(each => each.method === method).reduce((sum, { calls }) => sum + calls, 0)

/** The proxy answers with the node's own text, made before: how long a node takes to make it is not looked at here. */
async function serve(block: RpcBlock, bytesPerSecond = Number.POSITIVE_INFINITY): Promise<number> {
  const result = await resultText(chain.anvil.url, 'eth_getBlockReceipts', [block.hash])
  proxy.add({
    method: 'eth_getBlockReceipts',
    params: ([hash]) => hash === block.hash,
    fault: {
      kind: 'handle',
      handle: ({ id }, _, response) => sendPaced(response as ServerResponse, id, result, bytesPerSecond),
    },
  })
  return result.length
}

describe('receipts of a block', () => {
  const blocks: readonly (readonly [what: string, leastBytes: number, spec: FatBlock])[] = [
    ['20 MB of empty logs', 20_000_000, { logs: 57_000 }],
    ['64 MB of empty logs', 64_000_000, { logs: 178_000 }],
    ['64 MB of data in few logs', 64_000_000, { logs: 945, dataBytes: 34_000 }],
  ]
  const paces: readonly (readonly [pace: string, bytesPerSecond: number])[] = [
    ['at once', Number.POSITIVE_INFINITY],
    ['at 2 MB/s', 2_000_000],
  ]
  it.each(blocks)(
    'of %s are proven, at once and at 2 MB/s, in less than 200 MiB',
    async (what, least, spec) => {
      const block = await fat(spec)
      for (const [pace, bytesPerSecond] of paces) {
        expect(await serve(block, bytesPerSecond)).toBeGreaterThan(least)
        const read = await readApart(proxy.url, block)
        proxy.clear()
        expect(read).toMatchObject({ proof: 'receipts', logs: spec.logs })
        // Asked for once, and the small block before it.
        expect(callsOf(read, 'eth_getBlockReceipts')).toBe(2)
        console.log(`${what}, ${pace}: resident memory grew by ${(read.grownBytes / MIB).toFixed(0)} MiB`)
        expect(read.grownBytes).toBeLessThan(MOST_GROWN)
        // Others had their turn meanwhile.
        expect(read.turns).toBeGreaterThan(5)
      }
    },
  )

  it('of 20 MB arrive over a WebSocket too, where a message is buffered whole', async () => {
    const spec = { logs: 57_000 }
    const read = await readApart(chain.anvil.wsUrl, await fat(spec))
    expect(read).toMatchObject({ proof: 'receipts', logs: spec.logs })
    expect(read.grownBytes).toBeLessThan(MOST_GROWN)
    expect(read.turns).toBeGreaterThan(5)
  })
})

describe('R-health-7: a response past the limit', () => {
  const limits = { ...DEFAULT_LIMITS, answerBytes: 4 * MIB }
  const endpointAt = (url: string): Endpoint => {
    const { chainId, genesisHash } = chain.config()
    const identity = { chainId, genesisHash }
    return keep(
      new Endpoint({
        name: 'node',
        url: new Secret(url),
        identity,
        clock: systemClock,
        log: () => {},
        limits,
      }),
    )
  }

  it('is not read, and the receipts are read by transaction, still proven', async () => {
    // Each transaction some 3 MB.
    const spec = { logs: 24, dataBytes: 250_000 }
    const block = await fat(spec)
    const endpoint = endpointAt(proxy.url)
    proxy.calls.length = 0
    const read = await fetchBlock(endpoint, block.hash, signal)
    expect(read).toMatchObject({ proof: 'receipts', logs: { length: spec.logs } })
    expect(proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts')).toHaveLength(1)
    // It is no reason to leave the endpoint alone, nor to ask it otherwise for small blocks.
    expect([endpoint.isUsable, endpoint.abilities.lackings]).toEqual([true, []])
  })

  it('that does not declare its length ends at the limit', async () => {
    let writtenBytes = 0
    const part = JSON.stringify((await chain.rpc<unknown[]>('eth_getBlockReceipts', 'latest'))[0])
    proxy.add({
      method: 'eth_getBlockReceipts',
      fault: {
        kind: 'handle',
        handle: async ({ id }, _, response): Promise<'handled'> => {
          response?.write(`{"jsonrpc":"2.0","id":${Number(id)},"result":[${part}`)
          while (response?.destroyed === false) {
            writtenBytes += part.length
            if (!response.write(`,${part}`)) await drained(response)
          }
          return 'handled'
        },
      },
    })
    const asked = endpointAt(proxy.url).request('eth_getBlockReceipts', ['latest'], signal)
    await expect(asked).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE', endpoint: 'node' })
    // What the two ends of a socket may buffer comes on top, and one part.
    expect(writtenBytes).toBeLessThan(limits.answerBytes + part.length + 16 * MIB)
  })

  it('does not stop a feed, which continues to the blocks after it', async () => {
    await mine(chain)
    const config = { endpoints: endpointsOf(proxy.url), maxAnswerMib: 4 }
    const consumer = await follow(chain, { config })
    await consumer.untilTip(await latest(chain))
    await mineFat(chain, { logs: 24, dataBytes: 250_000 })
    const block = await latest(chain)
    await mine(chain, 3)
    const head = await latest(chain)
    await consumer.until('the block after', ({ tip }) => tip?.hash === head.hash, 60_000)
    const given = consumer.chain.find(({ hash }) => hash === block.hash)
    expect(given).toMatchObject({ proof: 'receipts', logs: { length: 24 } })
  })
})
