/**
 * A process that sends one server the same request on many sockets, each as soon as it has its answer. It reads only
 * the length of an answer, so that the server, not the client, is always busy.
 */
import { connect, type Socket } from 'node:net'

export type Question = { readonly port: number; readonly request: string; readonly sockets: number }

const OK = 'HTTP/1.1 200 '
const { port, request, sockets } = JSON.parse(process.argv[2] ?? '') as Question
const asked = Buffer.from(request)
const open = Array.from({ length: sockets }, () => connect(port, '127.0.0.1').setNoDelay(true))

process.on('message', (requests: number) => void ask(requests))

async function ask(requests: number): Promise<void> {
  let left = requests
  await Promise.all(open.map(socket => askWhile(socket, () => left-- > 0)))
  process.send?.('answered')
}

function askWhile(socket: Socket, isWanted: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing = 0
    const next = () => {
      if (isWanted()) socket.write(asked)
      else {
        socket.off('data', hear).off('error', reject).off('close', gone)
        resolve()
      }
    }
    const hear = (bytes: Buffer) => {
      if (missing === 0) missing = lengthOf(bytes)
      missing -= bytes.length
      if (missing === 0) next()
    }
    const gone = () => reject(new Error('the server closed a connection'))
    socket.on('data', hear).on('error', reject).on('close', gone)
    next()
  })
}

/** The length of an answer in bytes, from its head. The servers measured here send the head in one piece. */
function lengthOf(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.toString('latin1', 0, Math.max(0, end))
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (end < 0 || !head.startsWith(OK) || length === undefined)
    throw new Error(`an answer begins with ${head.slice(0, 200)}`)
  return end + 4 + Number(length)
}
