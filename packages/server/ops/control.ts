/**
 * The control socket: while the service runs, the command line calls it instead of opening the database. A unix socket
 * next to the database, accessible only to its owner; one JSON line in, one JSON line out.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, connect, type Server } from 'node:net'
import { dirname } from 'node:path'

export type ControlHandler = (request: Readonly<Record<string, unknown>>) => Promise<object>

const MAX_LINE = 64 * 1024
const ANSWER_MS = 10_000

export const controlPath = (databasePath: string): string => `${databasePath}.sock`

export async function openControl(
  databasePath: string,
  handle: ControlHandler,
): Promise<{ close(): Promise<void> }> {
  const path = controlPath(databasePath)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // The holder of the claim on the database owns this name, so an existing socket belongs to a dead process.
  rmSync(path, { force: true })
  const server: Server = createServer(socket => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.on('data', (part: string) => {
      text += part
      if (text.length > MAX_LINE) return socket.destroy()
      if (!text.includes('\n')) return
      // One request only: any further input is not read.
      socket.removeAllListeners('data').resume()
      Promise.resolve()
        .then(() => handle(requestIn(text)))
        .then(
          result => socket.end(`${JSON.stringify({ result })}\n`),
          (failure: unknown) =>
            socket.end(
              `${JSON.stringify({ error: failure instanceof Error ? failure.message : String(failure) })}\n`,
            ),
        )
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return {
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        rmSync(path, { force: true })
      }),
  }
}

function requestIn(text: string): Readonly<Record<string, unknown>> {
  const request = jsonIn(text)
  if (typeof request === 'object' && request !== null) return request as Record<string, unknown>
  throw new Error('the request is not a JSON object')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Null when no service answers there. */
export function askControl(
  databasePath: string,
  request: object,
  answerMs = ANSWER_MS,
): Promise<Record<string, unknown> | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(controlPath(databasePath))
    let text = ''
    socket.setEncoding('utf8')
    socket.setTimeout(answerMs, () =>
      socket.destroy(new Error(`no process answers on the control socket ${controlPath(databasePath)}`)),
    )
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    socket.on('data', (part: string) => {
      text += part
    })
    socket.once('error', (failure: NodeJS.ErrnoException) =>
      failure.code === 'ENOENT' || failure.code === 'ECONNREFUSED' ? resolve(null) : reject(failure),
    )
    socket.once('end', () => {
      const answer = jsonIn(text) as { result?: Record<string, unknown>; error?: string } | null | undefined
      if (answer?.error !== undefined) reject(new Error(answer.error))
      else if (answer?.result !== undefined) resolve(answer.result)
      // The service stopped during the request.
      else reject(new Error(`the control socket ${controlPath(databasePath)} closed without a response`))
    })
  })
}
