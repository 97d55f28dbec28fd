/** A token's name changes nothing in a tool's result but two marked texts, and these cannot break out. */
import { createClient } from '@assay/sdk'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs, text } from '../../ops/testing/hostile.ts'
import { answerToLine } from './line.ts'
import { HOSTILE_NAMES } from './testing/hostileNames.ts'
import { bounded, UNTRUSTED_NOTE, untrustedText } from './untrusted.ts'

const ADDRESS = `0x${'a5'.repeat(20)}`

/** A service that knows one token by this name, on a chain of the same name. */
const doorTo = (name: string) => ({
  minScore: 4,
  pay: async () => {},
  client: createClient({
    baseUrl: 'http://inside',
    fetch: async input =>
      Response.json(
        new Request(input).url.includes('/v1/chains')
          ? { chains: [{ chain_id: 1, name, health: null }] }
          : {
              chains: [{ chain_id: 1, name }],
              tokens: [
                {
                  chain_id: 1,
                  token_address: ADDRESS,
                  role: 'TOKEN',
                  state: 'PENDING',
                  price: null,
                  symbol: name,
                  name,
                },
              ],
              pools: [],
            },
      ),
  }),
})

const asked = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const QUESTIONS = [
  asked('initialize', { protocolVersion: '2025-11-25' }),
  asked('tools/list', {}),
  asked('tools/call', { name: 'health', arguments: {} }),
]
const SEARCH = asked('tools/call', { name: 'search', arguments: { query: 'x' } })

type Said = { readonly symbol: string; readonly name: string; readonly note: string }
type Found = { readonly tokens: readonly { readonly token_says: Said }[] }

async function resultsFor(
  name: string,
): Promise<{ readonly line: string; readonly result: Found; readonly inner: string }> {
  const line = (await answerToLine(SEARCH, doorTo(name))) ?? ''
  const { result } = JSON.parse(line) as {
    result: { structuredContent: Found; content: readonly { text: string }[] }
  }
  return { line, result: result.structuredContent, inner: result.content[0]?.text ?? '' }
}

/** AllowedMethods in untrusted text: letters, digits, pictographs and these few. */
const HARMLESS = /^[\p{L}\p{N}\p{Sc}\p{Extended_Pictographic} .,_+%&'/:()…-]*$/u

it.each(HOSTILE_NAMES.map(name => [name.slice(0, 40), name]))('%j', async (_, name) => {
  for (const question of QUESTIONS)
    expect(await answerToLine(question, doorTo(name))).toBe(await answerToLine(question, doorTo('Honest')))
  const hostile = await resultsFor(name)
  const honest = await resultsFor('Honest')
  const [says] = hostile.result.tokens.map(({ token_says }) => token_says)
  expect(says?.note).toBe(UNTRUSTED_NOTE)
  for (const said of [says?.symbol, says?.name]) {
    expect(said).toMatch(HARMLESS)
    expect((said ?? '').length).toBeLessThan(600)
  }
  // One line, and without those two texts the same as of any other token.
  expect(hostile.line).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
  const without = (found: Found) => ({
    ...found,
    tokens: found.tokens.map(each => ({ ...each, token_says: null })),
  })
  expect(without(hostile.result)).toEqual(without(honest.result))
  expect(JSON.parse(hostile.inner)).toEqual(hostile.result)
})

it('any text: only harmless characters pass, and no more than a name may have', () => {
  fc.assert(
    fc.property(fc.oneof(text(200), fc.constantFrom(...HOSTILE_NAMES)), name => {
      const { symbol, name: longer } = untrustedText(name, name)
      expect(symbol).toMatch(HARMLESS)
      expect(longer).toMatch(HARMLESS)
      // At most so many characters of the original, each at most as long as its number.
      expect((symbol ?? '').length).toBeLessThanOrEqual(24 * 10 + 1)
    }),
    runs(200),
  )
})

it('honest tokens’ names pass unchanged', () => {
  for (const name of [
    'USDC',
    'Wrapped Ether',
    'USD₮0',
    '柴犬',
    'Dogwifhat 🐶',
    "Joe's Coin",
    'aEthUSDC-v3',
    'Пример',
  ])
    expect(bounded(name, 48)).toBe(name)
  expect(untrustedText(null, null)).toEqual({ note: UNTRUSTED_NOTE, symbol: null, name: null })
})
