/** A token as a person names it: its address, or its symbol on a chain. */
import type { Client, TokenList } from '@assay/sdk'
import { InvalidArgumentError } from 'commander'
import { EXIT, Failure } from './exit.ts'
import { tokenAddress } from './options.ts'

type Token = TokenList['tokens'][number]

/** For the argument: an address is checked here, a symbol when the service is called. */
export const addressOrSymbol = (text: string): string => {
  if (text.startsWith('0x')) return tokenAddress(text)
  if (text.trim() === '') throw new InvalidArgumentError('Expected an address or a symbol.')
  return text
}

/** Symbols are not unique: a symbol shared by several tokens is refused with their addresses, never guessed. */
export async function namedToken(client: Client, chainId: number, text: string): Promise<`0x${string}`> {
  if (text.startsWith('0x')) return text as `0x${string}`
  const wanted = text.toLowerCase()
  const found = (await tokensOf(client, chainId)).filter(({ symbol }) => symbol?.toLowerCase() === wanted)
  const [token] = found
  if (token === undefined)
    throw new Failure(
      `chain ${chainId} has no token with the symbol ${text}; \`assay search ${text}\` searches every chain, and an address always works`,
      EXIT.absent,
    )
  if (found.length > 1)
    throw new Failure(
      `${found.length} tokens of chain ${chainId} have the symbol ${text}; give the address of the one you mean:\n${found.map(each => `  ${each.token_address}  ${each.name ?? ''}`.trimEnd()).join('\n')}`,
      EXIT.misused,
    )
  return token.token_address
}

export async function tokensOf(client: Client, chainId: number): Promise<readonly Token[]> {
  const tokens: Token[] = []
  let cursor: string | null = null
  do {
    const page: TokenList = await client.fetchTokens({
      chain_id: chainId,
      limit: 1000,
      ...(cursor === null ? {} : { cursor }),
    })
    tokens.push(...page.tokens)
    cursor = page.next_cursor
  } while (cursor !== null)
  return tokens
}
