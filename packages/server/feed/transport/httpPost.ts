/**
 * One POST whose answer is streamed to a reader. Sockets are kept for five seconds by the platform's own agents, which
 * also apply the proxies of the environment. `fetch` is not used because its streams took a seventh of a back-fill's
 * time.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'

export type PostAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders }

/** Reads the decompressed body. An error it throws ends the request. */
export type BodyReader = {
  /** Called before the body with its declared length. */
  readonly announced: (bytes: number) => void
  readonly push: (chunk: Buffer) => void
  /** Bytes arrived over the network, compressed or not. */
  readonly received: (bytes: number) => void
}

/**
 * Redirects are returned like other answers. The signal aborts at any point and the call then rejects with its reason.
 */
export async function post(...request: Request): Promise<PostAnswer> {
  try {
    return await postOnce(...request)
  } catch (error) {
    if (error instanceof StaleSocket) return postOnce(...request)
    throw error
  }
}

type Request = [
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  reader: BodyReader,
  signal: AbortSignal,
]

/** The server closed a kept socket just as we reused it, so it read nothing of the request. */
class StaleSocket extends Error {
  readonly code = 'ECONNRESET'
}

function postOnce(...[url, headers, body, reader, signal]: Request): Promise<PostAnswer> {
  signal.throwIfAborted()
  const send = url.startsWith('https:') ? secure : plain
  return new Promise((resolve, reject) => {
    const sent = { ...headers, 'accept-encoding': 'gzip, br', 'content-length': Buffer.byteLength(body) }
    const request = send(url, { method: 'POST', headers: sent })
    const fail = (error: Error): void => {
      reject(error)
      request.destroy()
    }
    const onAbort = (): void => fail(signal.reason as Error)
    const guarded = (step: () => void): void => {
      try {
        step()
      } catch (error) {
        fail(error as Error)
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
    request.on('close', () => signal.removeEventListener('abort', onAbort))
    let isAnswered = false
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && !isAnswered && error.code === 'ECONNRESET'
      fail(isStale ? new StaleSocket() : error)
    })
    request.on('response', response => {
      isAnswered = true
      const length = Number(response.headers['content-length'] ?? 0)
      guarded(() => reader.announced(length))
      if (request.destroyed) return
      const readable = decompressed(response, fail)
      if (readable !== response) response.on('data', (chunk: Buffer) => reader.received(chunk.length))
      readable.on('error', fail)
      readable.on('data', (chunk: Buffer) => {
        if (readable === response) reader.received(chunk.length)
        guarded(() => reader.push(chunk))
      })
      readable.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    })
    request.end(body)
  })
}

function decompressed(response: IncomingMessage, fail: (error: Error) => void): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return response
  if (encoding === 'gzip' || encoding === 'br')
    return pipeline(response, encoding === 'gzip' ? createGunzip() : createBrotliDecompress(), error => {
      if (error) fail(error)
    })
  fail(Object.assign(new Error('an encoding that was not requested'), { code: 'UNKNOWN_ENCODING' }))
  return response
}
