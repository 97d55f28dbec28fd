/** Refuses a handshake: plain HTTP with an empty body, and the end of the socket. */
import type { Duplex } from 'node:stream'

/** Time for the client to read a refusal. */
const REFUSED_MS = 1000

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** `headers` are whole lines. */
export function refuse(socket: Duplex, status: number, headers: readonly string[]): void {
  // A client that keeps its side open would keep the server from closing.
  setTimeout(() => socket.destroy(), REFUSED_MS).unref()
  socket.end(
    `HTTP/1.1 ${status} ${PHRASES[status]}\r\n${[...headers, 'Content-Length: 0', 'Connection: close'].join('\r\n')}\r\n\r\n`,
  )
}

export const retryAfter = (waitMs: number): string => `Retry-After: ${Math.max(1, Math.ceil(waitMs / 1000))}`
