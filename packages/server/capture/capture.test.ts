import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toFields } from '../feed/answers/answer.ts'
import { decodeHeader } from '../feed/proof/header.ts'
import { proveReceipts } from '../feed/proof/receiptsProof.ts'
import { EVERY_KIND, type LocalChain, mineTransactions, startLocalChain } from '../feed/testing/localChain.ts'
import { pass, type RpcProxy, startRpcProxy, without } from '../feed/testing/rpcProxy.ts'
import type { ChainConfig } from '../config/config.ts'
import { Secret } from '../ops/secret.ts'
import { captureBlocks, type CaptureProgress } from './capture.ts'

const KEY = 'hunter2hunter2'
const RULES = { header: 'standard', receipts: 'standard' } as const
const { signal } = new AbortController()
const root = mkdtempSync(join(tmpdir(), 'assay-capture-'))
let chain: LocalChain
let proxy: RpcProxy
let folder: string

beforeAll(async () => {
  chain = await startLocalChain()
  await mineTransactions(chain, EVERY_KIND)
  proxy = await startRpcProxy(chain.anvil.url)
})
afterAll(async () => {
  await proxy.close()
  await chain.close()
  rmSync(root, { recursive: true })
})
beforeEach(() => {
  proxy.rule = pass
  folder = mkdtempSync(join(root, 'blocks-'))
})

const at = (...urls: readonly string[]): ChainConfig =>
  chain.config({ endpoints: urls.map((url, n) => ({ name: `node-${n + 1}`, url: new Secret(url) })) })

const capture = (config: ChainConfig, from = 0, to = 1): Promise<CaptureProgress> =>
  captureBlocks(config, { from, to }, folder, signal, () => {})

const text = (name: string): string => readFileSync(join(folder, name), 'utf8')

/** As the node writes it, from the bytes of its answer. */
async function answered(method: string, ...params: readonly unknown[]): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await (await fetch(chain.anvil.url, { method: 'POST', headers, body })).text()
  return answer.slice(answer.indexOf('"result":') + '"result":'.length, -1)
}

describe('captureBlocks', () => {
  it('writes the node’s response byte for byte, over HTTP and over a WebSocket', async () => {
    const block = await answered('eth_getBlockByNumber', '0x1', false)
    const { hash } = JSON.parse(block) as { hash: string }
    const receipts = await answered('eth_getBlockReceipts', hash)
    for (const url of [chain.anvil.url, chain.anvil.wsUrl]) {
      folder = mkdtempSync(join(root, 'blocks-'))
      expect(await capture(at(url))).toMatchObject({ next_block: 2, written: 4, same: 0, differing: [] })
      const id = chain.config().chainId
      expect(readdirSync(folder).sort()).toEqual(
        [`${id}-0-block.json`, `${id}-0-receipts.json`, `${id}-1-block.json`, `${id}-1-receipts.json`].sort(),
      )
      expect([text(`${id}-1-block.json`), text(`${id}-1-receipts.json`)]).toEqual([block, receipts])
      const header = decodeHeader(toFields(JSON.parse(block)), RULES)
      expect(proveReceipts(header, JSON.parse(receipts) as unknown[], RULES).proof).toBe('receipts')
    }
  })

  it('takes receipts by transaction when the endpoint has none by block, and asks for those once', async () => {
    proxy.rule = without('eth_getBlockReceipts')
    proxy.calls.length = 0
    await capture(at(proxy.url), 1, 1)
    const id = chain.config().chainId
    const header = decodeHeader(toFields(JSON.parse(text(`${id}-1-block.json`))), RULES)
    const receipts = JSON.parse(text(`${id}-1-receipts.json`)) as unknown[]
    expect(proveReceipts(header, receipts, RULES).proof).toBe('receipts')
    await capture(at(proxy.url), 0, 1)
    const asked = proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts')
    expect(asked).toHaveLength(2)
  })

  it('leaves existing files unchanged, and names those that differ', async () => {
    const id = chain.config().chainId
    await capture(at(chain.anvil.url))
    writeFileSync(join(folder, `${id}-1-block.json`), '{}')
    expect(await capture(at(chain.anvil.url))).toMatchObject({
      written: 0,
      same: 3,
      differing: [`${id}-1-block.json`],
    })
    expect(text(`${id}-1-block.json`)).toBe('{}')
  })

  it('asks the next endpoint, and neither files nor errors contain any part of a URL', async () => {
    proxy.rule = call =>
      call.method === 'eth_chainId'
        ? { error: { code: -32_000, message: `no plan for ${KEY}` } }
        : { result: null }
    const refusal = await capture(at(`${proxy.url}/${KEY}`)).catch((error: Error) => error.message)
    expect(refusal).toMatch(/^endpoint node-1: eth_chainId failed with -32000: no plan for \[redacted\]$/)
    proxy.rule = (call, fetchAnswer) =>
      call.method === 'eth_getBlockByNumber' ? { error: { code: -1, message: 'no' } } : fetchAnswer()
    await capture(at(`${proxy.url}/${KEY}`, `${chain.anvil.url}/?key=${KEY}`))
    for (const name of readdirSync(folder)) expect(text(name)).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  it('names an endpoint of another chain, a block that no endpoint has, and a file in place of the folder', async () => {
    proxy.rule = (call, fetchAnswer) => (call.method === 'eth_chainId' ? { result: '0x5' } : fetchAnswer())
    await expect(capture(at(proxy.url))).rejects.toMatchObject({
      code: 'ENDPOINT_IDENTITY',
      message: expect.stringContaining('it serves chain 5, not'),
    })
    await expect(capture(at(chain.anvil.url), 99, 99)).rejects.toMatchObject({
      code: 'BLOCK_UNKNOWN',
      message: expect.stringContaining('it does not know block 99'),
    })
    const file = join(folder, 'file')
    writeFileSync(file, '')
    folder = file
    await expect(capture(at(chain.anvil.url))).rejects.toThrow('is a file; name a folder')
  })
})
