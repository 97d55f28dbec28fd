/** A node's own answer, sent on at a given pace: how a large one arrives over a slow line. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { pause } from '../conditionVariable.ts'

const PART = 65_536
const { signal } = new AbortController()

/** From the key of its result on, as the node wrote it. */
export async function resultText(url: string, method: string, params: readonly unknown[]): Promise<Buffer> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const text = Buffer.from(await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer())
  return text.subarray(text.indexOf('"result":'))
}

export async function sendPaced(
  response: ServerResponse,
  id: unknown,
  result: Buffer,
  bytesPerSecond: number,
): Promise<'handled'> {
  response.write(`{"jsonrpc":"2.0","id":${Number(id)},`)
  const startedMs = performance.now()
  for (let at = 0; at < result.length && !response.destroyed; at += PART) {
    const isTaken = response.write(result.subarray(at, at + PART))
    if (!isTaken) await drained(response)
    const aheadMs = (1000 * at) / bytesPerSecond - (performance.now() - startedMs)
    if (aheadMs > 1) await pause(aheadMs, signal)
  }
  response.end()
  return 'handled'
}

/** Until there is room again, or nobody reads any more. */
export async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const waits = ['drain', 'close'].map(event => once(response, event, { signal: over.signal }))
  await Promise.race(waits)
  over.abort()
  await Promise.allSettled(waits)
}
