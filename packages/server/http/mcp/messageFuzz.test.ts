/** Arbitrary input over a pipe or in a body gets one well-formed response, or none if none is due. */
import { createClient } from '@assay/sdk'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { expectUntouched, jsonText, runs, SECRET, spoiled, survive, text } from '../../ops/testing/hostile.ts'
import { agreedRevision } from './headers.ts'
import { answerToLine } from './line.ts'
import { messageIn, ProtocolError } from './message.ts'

const isOwn = (failure: unknown): boolean => {
  if (failure instanceof ProtocolError) expect(failure.message.length).toBeLessThan(300)
  return failure instanceof ProtocolError
}

const META = 'io.modelcontextprotocol/protocolVersion'
const KEYS = [
  'jsonrpc',
  'id',
  'method',
  'params',
  '_meta',
  'name',
  'arguments',
  'cursor',
  'protocolVersion',
  META,
]
const VALUES = [
  '"2.0"',
  '1',
  '"initialize"',
  '"tools/call"',
  '"tools/list"',
  '"price"',
  '"search"',
  '"2026-07-28"',
  '"2025-11-25"',
  `{"chain_id":1,"token_address":"0x${'a5'.repeat(20)}"}`,
  '{"query":"x"}',
  `{"${META}":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`,
]
const anyMessage = jsonText(KEYS, VALUES)
/** With the form of a request, so that what is inside it is reached. */
const request = fc
  .tuple(
    fc.constantFrom('tools/call', 'tools/list', 'initialize', 'server/discover', 'x'),
    anyMessage,
    anyMessage,
  )
  .map(
    ([method, params, given]) =>
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"name":"search","arguments":${given},"_meta":${params}}}`,
  )
const line = fc.oneof(anyMessage, spoiled(anyMessage), request, spoiled(request), text(200))

const door = {
  minScore: 4,
  pay: async () => {},
  client: createClient({
    baseUrl: 'http://inside',
    apiKey: SECRET,
    fetch: async () => Response.json({ chains: [], tokens: [], pools: [] }),
  }),
}

it('an arbitrary line gets one line of JSON-RPC, or none', async () => {
  await fc.assert(
    fc.asyncProperty(line, async sent => {
      const answer = await answerToLine(sent, door)
      expectUntouched()
      if (answer === null) return
      expect(answer).not.toContain('\n')
      expect(answer).not.toContain(SECRET)
      const { jsonrpc, result, error } = JSON.parse(answer) as Record<string, unknown>
      expect([jsonrpc, result === undefined]).toEqual(['2.0', error !== undefined])
    }),
    runs(600),
  )
})

it('arbitrary headers with an arbitrary message are accepted, or refused with a code and a short sentence', () => {
  const header = fc.oneof(
    text(40),
    fc.constantFrom(
      '2026-07-28',
      '2025-11-25',
      'v999',
      'tools/call',
      'price',
      '=?base64?cHJpY2U=?=',
      '=?base64?%?=',
    ),
  )
  fc.assert(
    fc.property(request, header, header, header, (sent, version, method, name) => {
      survive(() => {
        const message = messageIn(JSON.parse(sent))
        if (message.kind === 'response') return
        const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name }
        expect(['stateless', 'handshake']).toContain(agreedRevision(headers, message))
      }, isOwn)
    }),
    runs(600),
  )
})
