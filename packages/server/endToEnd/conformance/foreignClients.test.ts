/**
 * Python's `websockets` as a client of the stream, where the machine has it (Debian: python3-websockets). Node's own
 * WebSocket is the client of `stream.test.ts`, Chromium that of the console's `sdkInBrowser.test.ts`.
 */
import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { health } from '../../store/testing/drafts.ts'
import { openTestGate, type TestGate } from '../testing/testGate.ts'

const SCRIPT = fileURLToPath(new URL('pythonClient.py', import.meta.url))
/** A Python of another origin may come first and have none of Debian's packages. */
const PYTHONS = ['/usr/bin/python3', 'python3']
const python = PYTHONS.find(each => spawnSync(each, ['-c', 'import websockets']).status === 0) ?? null

type Heard = { readonly messages: readonly unknown[]; readonly code: number; readonly reason: string }

let gate: TestGate
beforeAll(async () => {
  gate = await openTestGate()
  for (let n = 0; n < 30; n++) await gate.commit(1, [health(1, 'HEALTHY'), health(1, 'DEGRADED')])
})
afterAll(() => gate?.close())

async function subscribe(frame: object, wanted: number): Promise<Heard> {
  const { authorization } = await gate.headers()
  const url = `${gate.url.replace(/^http/, 'ws')}/v1/stream`
  const job = JSON.stringify({ url, authorization, frame: JSON.stringify(frame), wanted })
  const { stdout } = await promisify(execFile)(python ?? '', [SCRIPT, job], { timeout: 180_000 })
  return JSON.parse(stdout) as Heard
}
const FILTER = { chain_ids: [1], pool_ids: [], token_ids: [] }

if (python === null) {
  it('Python has no `websockets` here: Node’s WebSocket and Chromium are the foreign clients of this run', () => {
    console.log('python3-websockets is absent: the stream was not tried with it.')
    // The other one is there, whatever this machine has.
    expect(typeof globalThis.WebSocket).toBe('function')
  })
} else {
  it('Python’s websockets: a replay is the log, record for record, and ping and close are answered', async () => {
    const { messages, code } = await subscribe({ filter: FILTER, resume_cursor: gate.seal() }, 60)
    const log = await gate.store.readLog(0, 60, 1)
    expect(messages).toEqual(log.map(({ envelope }) => JSON.parse(envelope) as unknown))
    expect(code).toBe(1000)
  })

  it('Python’s websockets: a refused cursor is RESET_REQUIRED and 1000', async () => {
    const { messages, code, reason } = await subscribe({ filter: FILTER, resume_cursor: 'nonsense' }, 99)
    expect(messages).toMatchObject([{ type: 'RESET_REQUIRED', payload: { reason: 'INVALID_CURSOR' } }])
    expect([code, reason]).toEqual([1000, 'INVALID_CURSOR'])
  })

  it('Python’s websockets: an invalid frame is 1008 with its reason', async () => {
    const { code, reason } = await subscribe(
      { filter: { ...FILTER, chain_ids: [2, 1] }, resume_cursor: null },
      1,
    )
    expect([code, reason]).toEqual([1008, 'filter.chain_ids is not strictly ascending at 1'])
  })
}
