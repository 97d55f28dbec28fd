import { beforeAll, expect, test } from 'vitest'
import { Abilities } from '../feed/endpoints/abilities.ts'
import type { Endpoint } from '../feed/endpoints/endpoint.ts'
import { FeedError } from '../feed/feedError.ts'
import { makeOddBlocks, type OddBlock, type Wire } from '../feed/testing/oddBlocks.ts'
import { systemClock } from '../ops/clock.ts'
import type { ChainConfig, ProofRules } from '../config/config.ts'
import { bareChain } from '../config/testing/bareConfig.ts'
import { Secret } from '../ops/secret.ts'
import type { Check } from './check.ts'
import { probeProof } from './proofProbe.ts'

let odd: readonly OddBlock[]
beforeAll(async () => {
  odd = await makeOddBlocks()
})

const oneOf = (name: string): OddBlock => odd.find(each => each.name === name) as OddBlock

const chainOf = (proof: ProofRules | undefined, endpoints: number): ChainConfig =>
  bareChain({
    chainId: 25,
    endpoints: Array.from({ length: endpoints }, (_, at) => ({
      name: `node-${at}`,
      url: new Secret('http://127.0.0.1:1'),
    })),
    genesisHash: `0x${'00'.repeat(32)}`,
    proof,
  })

type Node = {
  readonly block: Wire | null
  readonly receipts: readonly Wire[] | null
  /** Refused, so that receipts come by transaction alone. */
  readonly lacksByBlock?: boolean
}

/** Every number is that block. */
function endpointOf({ block, receipts, lacksByBlock = false }: Node): Endpoint {
  const missing = () => Promise.reject(new FeedError('METHOD_MISSING', 'node', 'it does not have the method'))
  const request = (method: string, [param]: readonly unknown[]): Promise<unknown> => {
    switch (method) {
      case 'eth_getBlockByNumber':
        return Promise.resolve(block)
      case 'eth_getBlockReceipts':
        return receipts === null || lacksByBlock ? missing() : Promise.resolve(receipts)
      case 'eth_getTransactionReceipt': {
        const found = receipts?.find(({ transactionHash }) => transactionHash === param)
        return found === undefined ? missing() : Promise.resolve(found)
      }
      default:
        return missing()
    }
  }
  const abilities = new Abilities('node', systemClock, () => {})
  const fake = { name: 'node', abilities, request, takesBatches: false, callsPerSecond: 500 }
  return fake as unknown as Endpoint
}

const probe = (
  node: Node,
  { proof, endpoints = 2 }: { readonly proof?: ProofRules; readonly endpoints?: number } = {},
): Promise<Check> => probeProof(chainOf(proof, endpoints), endpointOf(node), 9, new AbortController().signal)

const NOTHING: ProofRules = { header: 'opaque', receipts: 'none' }

test('a chain like Ethereum proves itself as configured', async () => {
  expect(await probe(oneOf('legacy and typed receipts'), { endpoints: 1 })).toEqual({
    name: 'proof',
    status: 'ok',
    value: 'headers give their hash, receipts give the root',
    fix: null,
  })
})

test('a node that gives receipts by transaction only proves as much as any other', async () => {
  const { block, receipts } = oneOf('legacy and typed receipts')
  const node = { block, receipts, lacksByBlock: true }
  expect(await probe(node)).toEqual(await probe({ block, receipts }))
  const forged = { ...block, receiptsRoot: `0x${'11'.repeat(32)}` }
  expect(await probe({ ...node, block: forged })).toMatchObject({
    status: 'fail',
    value: expect.stringContaining('receipts do not give the root'),
  })
})

test('a chain with another header hash fails with the line to paste', async () => {
  const { block, receipts } = oneOf('a header of another kind')
  const foreign = { ...block, receiptsRoot: `0x${'11'.repeat(32)}` }
  expect(await probe({ block: foreign, receipts })).toEqual({
    name: 'proof',
    status: 'fail',
    value: 'headers do not give their hash, receipts do not give the root, so every block would be refused',
    fix: 'add this to the section of chain 25: proof: { header: opaque, receipts: none }',
  })
  const alone = await probe({ block: foreign, receipts }, { endpoints: 1 })
  expect(alone.fix).toMatch(/receipts: none \}; and add an endpoint of another provider/)
  expect((await probe({ block: foreign, receipts }, { proof: NOTHING })).status).toBe('ok')
  expect((await probe({ block, receipts })).fix).toContain('proof: { header: opaque, receipts: standard }')
})

test('a chain that could be proven but is not configured so gets the line to paste', async () => {
  expect(await probe(oneOf('legacy and typed receipts'), { proof: NOTHING })).toMatchObject({
    status: 'warn',
    fix: 'add this to the section of chain 25: proof: { header: standard, receipts: standard }',
  })
})

test('deposits of an OP-stack chain are recognised', async () => {
  const deposits = oneOf('a deposit of six fields')
  expect(await probe(deposits)).toMatchObject({
    status: 'ok',
    value:
      'headers give their hash, receipts give the root (OP stack) (proof: { header: standard, receipts: op_stack })',
  })
  expect((await probe(deposits, { proof: { header: 'standard', receipts: 'op_stack' } })).value).toBe(
    'headers give their hash, receipts give the root (OP stack)',
  )
})

test('a chain that settles later gets the warning that one endpoint is not enough', async () => {
  const settling = oneOf('a settling header')
  expect(await probe(settling)).toMatchObject({ status: 'ok' })
  expect(await probe(settling, { endpoints: 1 })).toMatchObject({
    status: 'warn',
    fix: expect.stringMatching(/DEGRADED \(NO_PROOF\).*add an endpoint of another provider/),
  })
})

test('a node without receipts, without transactions or without blocks is not mistaken for another kind of chain', async () => {
  const { block } = oneOf('legacy and typed receipts')
  const quiet = 'headers give their hash; no receipts in the last 5 blocks'
  expect(await probe({ block, receipts: null })).toMatchObject({ status: 'ok', value: quiet })
  expect(await probe({ block, receipts: [] })).toMatchObject({ status: 'ok', value: quiet })
  expect(await probe({ block: null, receipts: [] })).toMatchObject({ status: 'warn' })
  expect(await probe({ block: { hash: '0x1' }, receipts: [] })).toMatchObject({ status: 'warn' })
})
