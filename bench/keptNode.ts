/**
 * A node whose answers are cached: it repeats earlier answers from memory, so that the measurement covers a reader of
 * the past and not the node. For a chain that does not change. A separate process, forked with the node's address; it
 * sends its own address when it listens.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'

type Call = { readonly id: unknown; readonly method: string; readonly params?: unknown }

/** The beginning of every answer of the node to a call without an id of its own. */
const HEAD = '{"jsonrpc":"2.0","id":0,'

const node = process.argv[2] as string
/** By call, the part of its answer after the head. */
const kept = new Map<string, Promise<Buffer>>()

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.destroy(error as Error))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.(`http://127.0.0.1:${port}`)
})
process.once('disconnect', () => process.exit())

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method, params = [] } = JSON.parse(await text(request)) as Call
  const call = JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })
  const rest = kept.get(call) ?? askAndKeep(call)
  const [head, tail] = [Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},`), await rest]
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': head.length + tail.length,
  })
  response.write(head)
  response.end(tail)
}

/** Failures are not cached. */
function askAndKeep(call: string): Promise<Buffer> {
  const rest = ask(call)
  kept.set(call, rest)
  rest.catch(() => kept.delete(call))
  return rest
}

async function ask(call: string): Promise<Buffer> {
  const headers = { 'content-type': 'application/json' }
  const { body } = await fetch(node, { method: 'POST', headers, body: call })
  const bytes = await buffer(body as NonNullable<typeof body>)
  if (bytes.toString('latin1', 0, HEAD.length) !== HEAD)
    throw new Error(`the node answers in another form: ${call}`)
  return bytes.subarray(HEAD.length)
}
