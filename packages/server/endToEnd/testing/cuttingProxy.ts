/** A TCP proxy that cuts every connection after a number of bytes from the server that `next` gives. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type CuttingProxy = {
  readonly url: string
  readonly cuts: () => number
  /** Those open now, at once. */
  cutAll(): void
  /** From now on connections last; those open are cut. */
  mend(): void
  close(): Promise<void>
}

export async function startCuttingProxy(target: number, next: () => number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cuts = 0
  let isMended = false
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1')
    let left = next()
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    near.pipe(far)
    far.on('data', (bytes: Buffer) => {
      if (isMended || bytes.length < left) {
        left -= bytes.length
        near.write(bytes)
        return
      }
      // The byte before the cut still arrives, wherever in a frame it is.
      cuts += 1
      near.end(bytes.subarray(0, left))
      far.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    cutAll,
    mend() {
      isMended = true
      cutAll()
    },
    async close() {
      cutAll()
      server.close()
      await once(server, 'close')
    },
  }
}
