/** A proxy that shows a key with every request, for programs that have no place for one. It passes on all else as it came. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type KeyedProxy = { readonly url: string; close(): Promise<void> }

export async function openKeyedProxy(target: string, key: string): Promise<KeyedProxy> {
  const { host, hostname, port } = new URL(target)
  const server = createServer((from, answer) => {
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { headers } = from
    // A client that names the proxy means the service behind it.
    const meant = (text: string) => text.replace(/(?:127\.0\.0\.1|localhost):\d+$/, host)
    const onward = request(
      {
        hostname,
        port,
        path: from.url,
        method: from.method,
        headers: {
          ...headers,
          host: headers.host === own ? host : (headers.host ?? host),
          ...(headers.origin === undefined ? {} : { origin: meant(headers.origin) }),
          authorization: `Bearer ${key}`,
        },
      },
      back => {
        answer.writeHead(back.statusCode ?? 502, back.headers)
        back.pipe(answer)
      },
    )
    onward.once('error', () => answer.destroy())
    from.pipe(onward)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
