/** The subject of a quote: a served chain and an address on it, or the quote error that says what is wrong. */
import type { FastifyRequest } from 'fastify'
import type { Address } from '../../ops/hex.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { addressIn, integerIn, poolIn } from '../plumbing/params.ts'
import { malformedQuote, pathOf } from '../plumbing/request.ts'

export function subject(
  context: Pick<HttpContext, 'chains'>,
  request: FastifyRequest,
  name: 'token_address' | 'pool_address',
): { readonly chain: ServedChain; readonly address: Address } {
  const chainId = integerIn(
    'chain_id',
    pathOf(request, 'chain_id'),
    0,
    Number.MAX_SAFE_INTEGER,
    malformedQuote,
  )
  const read = name === 'pool_address' ? poolIn : addressIn
  const address = read(name, pathOf(request, name), malformedQuote)
  const chain = context.chains.get(chainId)
  if (chain === undefined)
    throw new QuoteError(
      'UNSUPPORTED_CHAIN',
      `chain ${chainId} is not served; served are ${[...context.chains.keys()].join(', ')}`,
    )
  return { chain, address }
}
