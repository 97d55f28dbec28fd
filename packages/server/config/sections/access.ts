/** Who may use the service, and which addresses it may call. */
import { list, mapping, text } from '../field.ts'
import { networks } from '../formats.ts'

export const ADMIN = mapping('Access to /v1/admin and /metrics.', {
  allow: networks('Allowed addresses and networks; by default only this machine.', {
    default: ['127.0.0.1/32', '::1/128'],
    examples: [['127.0.0.1/32']],
  }),
})

/** As a browser sends it: in lower case, without a path and without the scheme's default port. */
const EXPECTED_ORIGIN = 'an origin as browsers send it, such as https://app.example or http://localhost:5173'
const ORIGIN = [
  /^https?:\/\/[^/\s*@]+$/,
  EXPECTED_ORIGIN,
  (origin: string) => (URL.parse(origin)?.origin === origin ? null : EXPECTED_ORIGIN),
] as const

export const ACCESS = mapping('Access for pages of other origins.', {
  cors_origins: list(
    'Origins whose pages may read with a bearer key from a browser, without cookies, written as browsers send them; by default none.',
    text('', ORIGIN),
    { examples: [['https://app.example']] },
  ),
})

export const WEBHOOKS = mapping('Which addresses webhooks may call.', {
  allow_private: networks('Private networks that may be called, such as 10.0.0.0/8; by default none.'),
})
