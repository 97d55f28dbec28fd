/** Answers input that never became a request, then closes: headers too large or too slow, bytes that are not HTTP. */
import type { Socket } from 'node:net'
import { requestId } from '../../ops/requestId.ts'

const ANSWERS: Readonly<Record<string, readonly [status: string, error: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'the headers and the URL are too large; expected at most 16 KiB together',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'the request did not arrive in time; expected its headers within 5 s and all of it within 10 s',
  ],
}
const BROKEN = ['400 Bad Request', 'this is not an HTTP request'] as const

export function answerBroken(failure: NodeJS.ErrnoException, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, error] = ANSWERS[failure.code ?? ''] ?? BROKEN
  const body = JSON.stringify({ error })
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // A client that does not read the answer must not keep the socket.
  socket.destroySoon()
}
