/**
 * The attacks: the actions of each, the observations, and whether they match what we promise. Bounded in count and
 * time.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { opened } from '../../packages/server/endToEnd/testing/handshake.ts'
import { type Held, type Victim, wait, within } from './victim.ts'

export type Seen = { readonly seen: string; readonly isHeld: boolean }
export type Attack = { readonly name: string; readonly run: (victim: Victim) => Promise<Seen> }

const SMALL_WINDOW = fileURLToPath(new URL('smallWindow.py', import.meta.url))
const HOST = 'Host: x\r\n'
const PROBE = `GET /healthz HTTP/1.1\r\n${HOST}\r\n`
/** The time limit of an honest request during an attack. */
const HONEST_MS = 1000

const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`
const end = (held: readonly Held[]) => {
  for (const { socket } of held) socket.destroy()
}
const inMs = (ms: number | null): string => (ms === null ? 'never' : `${Math.round(ms)} ms`)
const statusOf = ({ text }: Held): string => /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'none'

/** Opens this many connections, a few at a time, each of which sends this text. */
async function crowd(victim: Victim, count: number, addressAt: (n: number) => string, first: string) {
  const held: Held[] = []
  for (let n = 0; n < count; n += 250) {
    const some = Array.from({ length: Math.min(250, count - n) }, (_, at) =>
      victim.hold(first, addressAt(n + at)),
    )
    held.push(...some)
    await within(5000, () =>
      some.every(({ socket, text, isOver }) => isOver || (first === '' ? !socket.connecting : text !== '')),
    )
  }
  return held
}

async function besideCrowd(victim: Victim, held: readonly Held[]): Promise<Seen> {
  const ms = await victim.honestMs(20)
  const open = held.filter(({ isOver }) => !isOver).length
  end(held)
  return { seen: `${open} still open; honest request ${inMs(ms)}`, isHeld: ms !== null && ms < HONEST_MS }
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'slow headers, 200 sockets',
    async run(victim) {
      const held = Array.from({ length: 200 }, () => victim.hold('GET /v1/chains HTTP/1.1\r\nX-A: '))
      const dripping = setInterval(() => {
        for (const { socket } of held) if (socket.writable) socket.write('a')
      }, 500)
      const ms = await within(20_000, () => held.every(({ isOver }) => isOver))
      clearInterval(dripping)
      end(held)
      const isHeld = ms !== null && held.every(each => statusOf(each) === '408')
      return { seen: `all closed with 408 after ${inMs(ms)}`, isHeld }
    },
  },
  {
    name: 'slow body, 100 batches',
    async run(victim) {
      const head = `POST /v1/quote/tokens HTTP/1.1\r\n${HOST}${bearer(victim.key)}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
      const held = Array.from({ length: 100 }, () => victim.hold(head))
      const ms = await within(30_000, () => held.every(({ isOver }) => isOver))
      end(held)
      return { seen: `all closed after ${inMs(ms)}`, isHeld: ms !== null }
    },
  },
  {
    name: '2,100 of one address, silent after a probe',
    run: async victim => besideCrowd(victim, await crowd(victim, 2100, () => '127.0.0.2', PROBE)),
  },
  {
    name: '10,000 of 250 addresses, silent',
    run: async victim =>
      besideCrowd(
        victim,
        await crowd(victim, 10_000, n => `127.0.${1 + Math.floor((n % 250) / 125)}.${1 + (n % 125)}`, ''),
      ),
  },
  {
    name: 'replay to a window of 2 KiB that stops',
    async run(victim) {
      const filter = { chain_ids: [1], pool_ids: [], token_ids: [] }
      const frame = JSON.stringify({ filter, resume_cursor: victim.cursor })
      const authorization = `Bearer ${await victim.newKey()}`
      const reader = spawn('python3', [SMALL_WINDOW, `${victim.port}`, authorization, frame, '2048'])
      await once(reader.stdout, 'data')
      await wait(500)
      const before = await victim.streams()
      const startMs = performance.now()
      while ((await victim.streams()) > 0 && performance.now() - startMs < 30_000) await wait(250)
      const ms = performance.now() - startMs
      reader.kill()
      return { seen: `${before} stream, gone after ${inMs(ms)}`, isHeld: before === 1 && ms < 20_000 }
    },
  },
  {
    name: 'key revoked in the middle of a stream',
    async run(victim) {
      const key = await victim.newKey()
      const stream = await opened(victim.url, { headers: { authorization: `Bearer ${key}` } })
      stream.send({ filter: { chain_ids: [1], pool_ids: [], token_ids: [] }, resume_cursor: null })
      await victim.revoke(key)
      const ms = await within(10_000, () => stream.closed !== null)
      const code = stream.closed?.code
      await stream.end()
      return { seen: `closed with ${code} after ${inMs(ms)}`, isHeld: code === 1008 && (ms ?? 1e9) <= 5000 }
    },
  },
  {
    name: 'spoofed addresses: an allowlist and the throttle',
    async run(victim) {
      const ask = async (path: string, more: string) => {
        const held = victim.hold(`GET ${path} HTTP/1.1\r\n${HOST}${more}Connection: close\r\n\r\n`)
        await within(5000, () => held.isOver)
        return statusOf(held)
      }
      const metrics = await ask('/metrics', 'X-Forwarded-For: 127.0.0.1\r\n')
      const guesses: string[] = []
      for (let n = 0; n < 15; n++)
        guesses.push(await ask('/v1/chains', `${bearer('guess')}X-Forwarded-For: 192.0.2.${n}\r\n`))
      return {
        seen: `/metrics ${metrics}; last guess ${guesses.at(-1)}`,
        isHeld: metrics === '403' && guesses.at(-1) === '429',
      }
    },
  },
  {
    name: 'pipelining, 50 sockets with 200 requests each',
    async run(victim) {
      const many = `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(200)
      const held = Array.from({ length: 50 }, () => victim.hold(''))
      for (const { socket } of held) {
        socket.pause()
        socket.write(many)
      }
      const ms = await victim.honestMs(20)
      end(held)
      return { seen: `honest request ${inMs(ms)}`, isHeld: ms !== null && ms < HONEST_MS }
    },
  },
  {
    name: 'oversized: headers, URL, body, frame',
    async run(victim) {
      const ask = async (text: string) => {
        const held = victim.hold(text)
        await within(5000, () => held.isOver || /\r\n\r\n/.test(held.text))
        end([held])
        return statusOf(held)
      }
      const key = bearer(victim.key)
      const statuses = [
        await ask(`GET /v1/chains HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(32 * 1024)}\r\n\r\n`),
        await ask(`GET /v1/chains?${'a'.repeat(9000)} HTTP/1.1\r\n${HOST}${key}\r\n`),
        await ask(
          `POST /v1/quote/tokens HTTP/1.1\r\n${HOST}${key}Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`,
        ),
      ]
      const stream = await opened(victim.url, { headers: { authorization: `Bearer ${victim.key}` } })
      stream.send('x'.repeat(64 * 1024 + 1))
      const { code } = await stream.untilClosed()
      const seen = [...statuses, code].join(', ')
      return { seen, isHeld: seen === '431, 414, 413, 1009' }
    },
  },
]
