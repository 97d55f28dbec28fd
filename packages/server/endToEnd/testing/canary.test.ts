import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { issueKey } from '../../access/apiKey.ts'
import { CANARY, expectNoLeaks, scan } from './canary.ts'

const { key } = issueKey()
const SESSION = 's'.repeat(43)

/** A server that leaks secrets, watched like every other. */
async function answering(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<void> {
  const server = createServer((_, response) => response.writeHead(200, headers).end(body))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text()
  await new Promise(resolve => server.close(resolve))
}

it.each([
  ['the secret of an endpoint', `{"error":"ws://x/?key=${CANARY} is away"}`],
  ['a key', `{"error":"${key} is not valid"}`],
])('a response that reveals %s is found', async (what, body) => {
  await answering(body)
  expect(expectNoLeaks).toThrow(`a response reveals ${what}`)
  expectNoLeaks()
})

it('bytes are searched like text', async () => {
  await answering(new TextEncoder().encode(`{"error":"ws://x/?key=${CANARY} is away"}`))
  expect(expectNoLeaks).toThrow('a response reveals the secret of an endpoint')
  await answering(new TextEncoder().encode(`{"error":"${key} is not valid"}`))
  expect(expectNoLeaks).toThrow('a response reveals a key')
  await answering('{}', { 'set-cookie': `assay_session=${SESSION}; Path=/` })
  await answering(new TextEncoder().encode(`{"session":"${SESSION}"}`))
  expect(expectNoLeaks).toThrow('a response reveals a session')
})

it('a session appears where it is set, and nowhere else', async () => {
  await answering('{}', { 'set-cookie': `assay_session=${SESSION}; Path=/` })
  expectNoLeaks()
  await answering(`{"session":"${SESSION}"}`)
  expect(expectNoLeaks).toThrow('a response reveals a session')
})

it('a key appears in the response that creates it, and in no log', async () => {
  await answering(`{"key_id":"x","key":"${key}"}`)
  expectNoLeaks()
  scan('a log', `issued {"key":"${key}"}`)
  expect(expectNoLeaks).toThrow('a log reveals a key')
})
