/**
 * Which vendor's format a path uses, and how failures look in it. Statuses are ours and mean the same everywhere; only
 * bodies follow the vendor, so that its clients find the message.
 */

export type Vendor = 'coingecko' | 'defillama' | 'udf'

/** Prefix of the paths of other services. */
export const COMPAT = '/compat/'
export const PREFIX: Readonly<Record<Vendor, string>> = {
  coingecko: `${COMPAT}coingecko`,
  defillama: `${COMPAT}defillama`,
  udf: `${COMPAT}udf`,
}

export function vendorOf(path: string): Vendor | null {
  for (const vendor of ['coingecko', 'defillama', 'udf'] as const)
    if (path.startsWith(`${PREFIX[vendor]}/`)) return vendor
  return null
}

/** Messages for refusals that normally have no body. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the API key is missing or invalid; send a key of this service',
  403: 'this key may not read prices; it needs the scope read',
  429: 'the rate limit of this key is exhausted; retry after the time in Retry-After',
}

/** CoinGecko's error codes for key problems. */
const KEY_MISSING = 10_002

export function failureBody(
  vendor: Vendor,
  path: string,
  status: number,
  message = REFUSALS[status] ?? '',
): object {
  switch (vendor) {
    case 'coingecko': {
      if (status !== 400 && status !== 404 && status !== 422)
        return { status: { error_code: status === 401 ? KEY_MISSING : status, error_message: message } }
      const title = status === 404 ? 'Not Found' : 'Bad Request'
      return path.startsWith(`${PREFIX.coingecko}/onchain/`)
        ? { errors: [{ status: `${status}`, title, detail: message }] }
        : { error: message }
    }
    case 'defillama':
      return { message }
    case 'udf':
      return { s: 'error', errmsg: message }
  }
}

/** Headers in which vendors' clients send their key, besides a bearer. */
const KEY_HEADERS = ['x-cg-pro-api-key', 'x-cg-demo-api-key'] as const

/** The key of a request without an Authorization header; undefined when there is none either. */
export function vendorKey(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  for (const name of KEY_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}
