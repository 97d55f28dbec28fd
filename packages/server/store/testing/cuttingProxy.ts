/** A way to PostgreSQL that can be cut at the worst moment: around a COMMIT. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Before the server gets the COMMIT, or after it has it but before its answer comes back. */
export type Cut = 'before' | 'after'

export type CuttingProxy = {
  readonly url: (database: string) => string
  /** The next COMMIT is cut. */
  cutNext(cut: Cut): void
  readonly cuts: number
  close(): Promise<void>
}

/** A simple query of this text, as the protocol has it. */
const COMMIT = Buffer.from('COMMIT\0')

export async function startCuttingProxy(serverSocket: string): Promise<CuttingProxy> {
  let next: Cut | null = null
  let cuts = 0
  const sockets = new Set<Socket>()
  const proxy = createServer(client => {
    const server = connect(serverSocket)
    let isDeaf = false
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    server.on('data', part => {
      if (!isDeaf) client.write(part)
      // The answer to the COMMIT is here, so it has happened; but nobody learns of it.
      else end()
    })
    client.on('data', part => {
      if (next === null || !part.includes(COMMIT)) {
        server.write(part)
        return
      }
      cuts++
      const cut = next
      next = null
      if (cut === 'before') end()
      else {
        isDeaf = true
        server.write(part)
      }
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: database => `postgres://assay@127.0.0.1:${port}/${database}`,
    cutNext(cut) {
      next = cut
    },
    get cuts() {
      return cuts
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
