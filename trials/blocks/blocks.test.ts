import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeOddBlocks, type OddBlock } from '../../packages/server/feed/testing/oddBlocks.ts'
import { type Examined, examine } from './examine.ts'
import { forkOf } from './fork.ts'
import { readBlocks } from './readBlocks.ts'

const root = join(import.meta.dirname, '../..')
/** Blocks of real chains are not part of the project; where they are at hand they are tried too. */
const real = process.env['ASSAY_BLOCKS'] ?? join(root, '../shared/realdata/blocks')
/** Receipts changed in a block, where the whole script changes more. */
const FEW = 2

const folder = mkdtempSync(join(tmpdir(), 'assay-blocks-'))
afterAll(() => rmSync(folder, { recursive: true }))

let odd: readonly OddBlock[]
/** By name: some oddities are of the same header, which the reader of a folder would take for one block. */
let examined: ReadonlyMap<string, Examined>
beforeAll(async () => {
  odd = await makeOddBlocks()
  examined = new Map(
    odd.map(({ name, block, receipts }) => [name, examine({ file: name, header: block, receipts }, 99)]),
  )
})

const faultsOf = (all: Iterable<Examined>): string[] =>
  [...all].flatMap(({ file, honest, tampered }) => [
    ...(honest.kind === 'refused' ? [`${file}: refused: ${honest.reason}`] : []),
    ...tampered.missed.map(what => `${file}: accepted with a change: ${what}`),
  ])

describe('blocks with the oddities of real chains', () => {
  it('pass, and no tampered copy is accepted', () => {
    expect(faultsOf(examined.values())).toEqual([])
    for (const { tampered } of examined.values())
      expect(tampered.refused + tampered.unproven).toBeGreaterThan(40)
  })

  it('pass with the proof they have', () => {
    expect(odd.map(({ name }) => [name, examined.get(name)?.honest])).toEqual(
      odd.map(({ name, proof }) => [name, expect.objectContaining({ kind: 'passed', proof })]),
    )
  })

  it('show the fork whose rules they follow', () => {
    const forks = Object.fromEntries(odd.map(({ name, block }) => [name, forkOf(block)]))
    expect(forks).toMatchObject({
      'a Glamsterdam header': 'Glamsterdam',
      'legacy and typed receipts': 'Prague',
      'a coreth header': 'Granite',
      'a settling header': 'Helicon',
      'a receipt without a type': 'before London',
    })
    expect(forkOf({ miner: '0x4200000000000000000000000000000000000011', withdrawalsRoot: '0x' })).toBe(
      'Canyon',
    )
    expect(forkOf({ l1BlockNumber: '0x1' })).toBe('classic')
    expect(forkOf({ l1BlockNumber: '0x1', sendRoot: '0x' })).toBe('Nitro')
  })
})

describe('the reader', () => {
  const inFolder = (files: Readonly<Record<string, unknown>>) => {
    const own = mkdtempSync(join(folder, 'layout-'))
    for (const [name, value] of Object.entries(files)) writeFileSync(join(own, name), JSON.stringify(value))
    return readBlocks(own)
  }

  it('finds header and receipts by what they hold, in files of any name and shape', () => {
    const { block, receipts } = odd[0] as OddBlock
    const whole = [expect.objectContaining({ header: block, receipts })]
    expect(inFolder({ 'a.json': block, 'b.json': receipts })).toEqual(whole)
    expect(inFolder({ 'both.json': { origin: 'somewhere', block, receipts } })).toEqual(whole)
    expect(inFolder({ 'both.json': { header: block, receipts } })).toEqual(whole)
    expect(inFolder({ 'x.json': { jsonrpc: '2.0', id: 1, result: block }, 'y.json': receipts })).toEqual(
      whole,
    )
    expect(inFolder({ 'map.json': { 'chain one': block } })).toEqual([
      expect.objectContaining({ key: 'chain one', header: block, receipts: null }),
    ])
    expect(inFolder({ 'list.json': { headers: [block] } })).toEqual([
      expect.objectContaining({ header: block, receipts: null }),
    ])
    expect(inFolder({ 'alone.json': receipts[0] })).toEqual([
      expect.objectContaining({ header: null, receipts: [receipts[0]] }),
    ])
    expect(inFolder({ 'note.json': { name: 'nothing of ours' } })).toEqual([])
  })

  it('gives an empty list of receipts to the header whose file has the same name', () => {
    const { block } = odd[0] as OddBlock
    const empty = { ...block, transactions: [] }
    expect(inFolder({ '1-7-block.json': empty, '1-7-receipts.json': [] })).toEqual([
      expect.objectContaining({ header: empty, receipts: [] }),
    ])
  })
})

describe('npm run test:blocks', () => {
  const script = (...words: readonly string[]): { readonly code: number; readonly text: string } => {
    try {
      const text = execFileSync(process.execPath, [join(root, 'trials/blocks.ts'), ...words], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return { code: 0, text }
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }
      return { code: status, text: stdout + stderr }
    }
  }
  const only = (name: string, change: object): string => {
    const own = mkdtempSync(join(folder, 'script-'))
    const { block, receipts } = odd.find(each => each.name === name) as OddBlock
    writeFileSync(join(own, '1-70000000-block.json'), JSON.stringify({ ...block, ...change }))
    writeFileSync(join(own, '1-70000000-receipts.json'), JSON.stringify(receipts))
    return own
  }

  it('prints chain, block, fork, proof and verdict, and the copies it made', () => {
    const { code, text } = script(only('a Glamsterdam header', {}))
    expect(text).toMatch(/^1 +70000000 Glamsterdam +receipts +passed; \d+ copies refused/m)
    expect(text).toMatch(/^1 blocks: 1 by receipts.*; 0 refused$/m)
    expect(text).toMatch(/^tampered copies: \d+ refused, \d+ unproven, 0 accepted$/m)
    expect(code).toBe(0)
  })

  it('exits with 1 when a block is refused or there is none, and with 2 on wrong usage', () => {
    const refused = script(only('a Glamsterdam header', { gasLimit: '0x1' }))
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringContaining('REFUSED: its fields give the hash'),
    ])
    expect(script(mkdtempSync(join(folder, 'empty-'))).code).toBe(1)
    expect(script().code).toBe(2)
    expect(script(join(folder, 'nowhere'))).toEqual({
      code: 2,
      text: expect.stringContaining('does not exist'),
    })
    expect(script(folder, '--fast').code).toBe(2)
  })
})

if (existsSync(real))
  describe('real blocks', () => {
    it('pass, and no tampered copy is accepted', () => {
      const all = readBlocks(real).map(block => examine(block, FEW))
      expect(all.length).toBeGreaterThan(0)
      expect(faultsOf(all)).toEqual([])
    })
  })

const opStack = join(real, 'op')
if (existsSync(opStack))
  describe('real blocks of Base and OP Mainnet', () => {
    it('are proven by their receipts wherever these are available, with deposits of four and of six fields', () => {
      const whole = readBlocks(opStack).filter(({ receipts }) => receipts !== null)
      const deposits = whole
        .flatMap(({ receipts }) => receipts ?? [])
        .filter(({ type }) => Number(type) === 0x7e)
      expect(new Set(deposits.map(each => each['depositReceiptVersion'] !== undefined))).toEqual(
        new Set([true, false]),
      )
      expect(whole.map(block => [block.file, examine(block, 0).honest])).toEqual(
        whole.map(({ file }) => [file, expect.objectContaining({ kind: 'passed', proof: 'receipts' })]),
      )
    })
  })
