/** Where the service listens. */
import { type DefaultFrom, mapping, nullish, text } from '../field.ts'
import { HOST, networks, port } from '../formats.ts'

export const LISTEN = mapping('Where the service listens.', {
  host: text('Address to listen on; 0.0.0.0 for all interfaces.', HOST, { default: '127.0.0.1' }),
  port: port(8080),
  public_origin: nullish(
    text(
      'The origin browsers see, such as https://prices.example; required for sessions from other machines, and where browsers reach another port than listen.port. Terminate TLS in front of Assay.',
      [/^https?:\/\/[^/\s]+$/, 'an origin such as https://prices.example'],
      { examples: ['https://prices.example'] },
    ),
  ),
  trusted_proxies: networks('Addresses and networks whose X-Forwarded-For is trusted; by default none.', {
    examples: [['10.0.0.1']],
  }),
})

/** Addresses that only this machine can reach. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** For endpoints that are on where only this machine can ask, and must be enabled elsewhere. */
export const onLoopback: DefaultFrom = {
  says: 'true if `listen.host` is loopback',
  of: ({ listen }) => LOOPBACK.test(listen.host),
}
