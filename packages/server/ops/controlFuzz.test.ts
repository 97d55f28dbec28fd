/** Whatever is written to the control socket: one answer, or the end of the connection, and the next is served. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askControl, controlPath, openControl } from './control.ts'
import { expectUntouched, jsonText, runs, spoiled, text } from './testing/hostile.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-control-'))
const database = join(folder, 'assay.db')
let handled = 0
let release: () => void = () => undefined
let control: Awaited<ReturnType<typeof openControl>>
beforeAll(async () => {
  control = await openControl(database, async request => {
    handled += 1
    if (request['command'] === 'slow') await new Promise<void>(resolve => (release = resolve))
    return { command: request['command'] ?? null }
  })
})
afterAll(async () => {
  await control?.close()
  rmSync(folder, { recursive: true })
})

/** What comes back until the other side closes. */
function send(path: string, parts: readonly string[]): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(path)
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      answer += part
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    for (const part of parts) socket.write(part)
  })
}

it('an arbitrary line has one response', async () => {
  const line = fc.oneof(spoiled(jsonText(['command', 'chain_id'], ['"ping"'])), text(200))
  await fc.assert(
    fc.asyncProperty(line, fc.array(text(20), { maxLength: 2 }), async (each, more) => {
      const answer = await send(controlPath(database), [`${each}\n`, ...more])
      const parsed = JSON.parse(answer) as object
      expect(Object.keys(parsed)).toHaveLength(1)
      expect(Object.keys(parsed)[0]).toMatch(/^(result|error)$/)
      expectUntouched()
    }),
    runs(25),
  )
  expect(await askControl(database, { command: 'ping' })).toEqual({ command: 'ping' })
})

it('a line without an end is cut off', async () => {
  expect(await send(controlPath(database), ['x'.repeat(200_000)])).toBe('')
})

it('bytes after a request are not read, and it is handled once', async () => {
  const before = handled
  const socket = connect(controlPath(database)).setEncoding('utf8')
  socket.write('{"command":"slow"}\n')
  await expect.poll(() => handled).toBe(before + 1)
  socket.write('\n')
  // By the time another is answered, that has come too.
  await askControl(database, {})
  release()
  const [answer] = (await once(socket, 'data')) as [string]
  expect(answer).toBe('{"result":{"command":"slow"}}\n')
  expect(handled).toBe(before + 2)
})

it.each(['', '{', 'null\n', '[]\n', '5\n', '"x"\n', '{}\n', '\0'])(
  'a response of %j is reported as a failure',
  async answer => {
    const other = join(folder, 'other.db')
    const server = createServer(socket => socket.resume().end(answer)).listen(controlPath(other))
    try {
      await expect(askControl(other, {})).rejects.toThrow('closed without a response')
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  },
)
