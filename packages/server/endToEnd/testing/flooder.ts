/**
 * The thread of a consumer that sends requests without pause on several sockets until it is stopped. It reports when it is being
 * refused, and counts how often it was.
 */
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

export type Flood = {
  readonly url: string
  readonly key: string
  readonly sockets: number
  /** Shared with who started it. */
  readonly refused: Int32Array
}

const { url, key, sockets, refused } = workerData as Flood
const agent = new Agent({ keepAlive: true, maxSockets: sockets })
let isFlooding = true
/** It floods by now. */
const WELL_REFUSED = 100

function ask(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }, response => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}

async function flood(): Promise<void> {
  while (isFlooding)
    if ((await ask()) === 429 && Atomics.add(refused, 0, 1) === WELL_REFUSED)
      parentPort?.postMessage('refused')
}

parentPort?.once('message', () => {
  isFlooding = false
})
await Promise.all(Array.from({ length: sockets }, flood))
agent.destroy()
