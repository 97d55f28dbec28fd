/**
 * Coins as DefiLlama's clients name them, `chain:address`. The zero address is the native coin, which has the price of
 * its wrapped form; other kinds of ids match nothing here.
 */
import type { HttpContext } from '../../plumbing/context.ts'
import type { Absences } from '../absences.ts'
import { namesIn, tokenAt } from '../addresses.ts'
import { chainNamed } from '../networks.ts'
import type { Token } from '../prices.ts'

type Needs = Pick<HttpContext, 'chains'>

const NATIVE = `0x${'0'.repeat(40)}`

export type Coin = { readonly name: string; readonly token: Token }

export const coinsIn = (context: Needs, text: string, absences: Absences): readonly Coin[] =>
  coinsOf(context, namesIn(text, 'the list of coins'), absences)

export function coinsOf(context: Needs, names: readonly string[], absences: Absences): readonly Coin[] {
  return names.flatMap((name, at) => {
    const token = tokenNamed(context, name)
    if (typeof token !== 'string') return [{ name, token }]
    absences.note(name, token, at)
    return []
  })
}

/** The token with this name, or the reason why there is none. */
function tokenNamed(context: Needs, name: string): Token | string {
  const colon = name.indexOf(':')
  const chain = colon < 0 ? null : chainNamed(context, 'llama', name.slice(0, colon))
  if (chain === null) return 'UNSUPPORTED_CHAIN'
  const { chainId, wrappedNative } = chain.config
  const address = name.slice(colon + 1)
  return tokenAt(chainId, address.toLowerCase() === NATIVE ? wrappedNative : address) ?? 'INVALID_ADDRESS'
}
