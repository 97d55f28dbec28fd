/** Parses lists of tokens: at most a hundred, each a valid address or a name with the reason why it is none. */
import { addressIn } from '../plumbing/params.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { malformed } from '../plumbing/request.ts'
import type { Absences } from './absences.ts'
import type { Token } from './prices.ts'

export const MOST_TOKENS = 100

/** `name` is as the client wrote it. */
export type Named = { readonly name: string; readonly token: Token }

/** Comma-separated, without empty and repeated names. */
export function namesIn(text: string, what: string, most = MOST_TOKENS): readonly string[] {
  const names = [...new Set(text.split(',').map(each => each.trim()))].filter(each => each !== '')
  if (names.length === 0) throw new RequestError(400, `${what} is empty; expected up to ${most} of them`)
  if (names.length > most)
    throw new RequestError(400, `${what} has ${names.length} entries; expected at most ${most}`)
  return names
}

/** Addresses of one chain; an invalid one is noted as absent. */
export function tokensIn(text: string, chainId: number, absences: Absences): readonly Named[] {
  return namesIn(text, 'the list of addresses').flatMap((name, at) => {
    const token = tokenAt(chainId, name)
    if (token === null) absences.note(name, 'INVALID_ADDRESS', at)
    return token === null ? [] : [{ name: token.tokenAddress, token }]
  })
}

export function tokenAt(chainId: number, text: string): Token | null {
  try {
    return { chainId, tokenAddress: addressIn('address', text, malformed) }
  } catch {
    return null
  }
}
