/**
 * One POST and its whole answer. Sockets are kept, for five seconds, by the platform's own agents, which also know the
 * proxies of the environment. Not `fetch`, whose streams took a seventh of a back-fill.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'

export type PostAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As it was before it was compressed. */
  readonly body: Buffer
}

/** The answer has more bytes, after decompression, than may be kept. */
export class BodyTooLarge extends Error {}

/** Redirects are answers like others. The signal ends it at any point; what it rejects with then is the signal's reason. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  bodyBytes: number,
  signal: AbortSignal,
): Promise<PostAnswer> {
  signal.throwIfAborted()
  const send = url.startsWith('https:') ? secure : plain
  return new Promise((resolve, reject) => {
    const sent = { ...headers, 'accept-encoding': 'gzip, br', 'content-length': Buffer.byteLength(body) }
    const request = send(url, { method: 'POST', headers: sent })
    const fail = (error: Error): void => {
      reject(error)
      request.destroy()
    }
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true })
    request.on('error', fail)
    request.on('response', response => {
      if (Number(response.headers['content-length'] ?? 0) > bodyBytes) return fail(new BodyTooLarge())
      const chunks: Buffer[] = []
      let size = 0
      const readable = decompressed(response, fail)
      readable.on('error', fail)
      readable.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > bodyBytes) fail(new BodyTooLarge())
        else chunks.push(chunk)
      })
      readable.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks, size),
        }),
      )
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
  fail(Object.assign(new Error('an encoding that was not asked for'), { code: 'UNKNOWN_ENCODING' }))
  return response
}
