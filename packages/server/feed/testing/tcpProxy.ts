/** A TCP proxy in front of a node: its connections can be cut, and bytes from the node held back. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  readonly port: number
  /** How many connections there were. */
  readonly accepted: () => number
  /** Ends every connection; new ones are accepted. */
  cut(): void
  /** Where new connections lead to. */
  target: number
  close(): Promise<void>
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer(near => {
    accepted++
    const far = connect(proxy.target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    cut,
    target,
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
