/** Where the service listens. */
import { mapping, nullable, optional, text } from '../field.ts'
import { HOST, networks, port } from '../formats.ts'

export const LISTEN = mapping('Where the service listens.', {
  host: text('Address to listen on; 0.0.0.0 for all interfaces.', { ...HOST, default: '127.0.0.1' }),
  port: port(8080),
  public_origin: optional(
    nullable(
      text(
        'The origin browsers see, such as https://prices.example; required for sessions from other machines. Terminate TLS in front of Assay.',
        {
          more: 'Also where browsers reach the service on a different port than it listens on (a tunnel, a container).',
          pattern: /^https?:\/\/[^/\s]+$/,
          expected: 'an origin such as https://prices.example',
          examples: ['https://prices.example'],
        },
      ),
    ),
  ),
  trusted_proxies: networks('Addresses and networks whose X-Forwarded-For is trusted.', {
    more: 'Otherwise the client is the peer of the socket.',
    examples: [['10.0.0.1']],
  }),
})

/** Addresses that only this machine can reach. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** For endpoints that are on where only this machine can ask, and must be enabled elsewhere. */
export const onLoopback = {
  says: 'true if `listen.host` is loopback',
  of: ({ listen }: { readonly listen: { readonly host: string } }): boolean => LOOPBACK.test(listen.host),
} as const
