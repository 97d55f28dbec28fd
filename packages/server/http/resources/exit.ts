/** GET /v1/exit: what sales of a token would pay, computed at the tip. */
import type { FastifyInstance } from 'fastify'
import type { SaleSizes } from '../../worker/chainService.ts'
import { answering } from './computedAnswer.ts'
import type { HttpContext } from '../plumbing/context.ts'
import type { Params } from '../plumbing/params.ts'
import { malformedQuote } from '../plumbing/request.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'quotes' | 'store'>

const DEADLINE_MS = 3000
const MAX_SIZES = 8
const DEFAULT_USD = '100,1000,10000'
/** A thousand billion dollars. */
const MAX_MICROUSD = 10n ** 18n
/** The largest possible balance. */
const MAX_UNITS = (1n << 256n) - 1n

export function registerExit(app: FastifyInstance, context: Needs): void {
  const respond = answering(context, {
    parameters: ['usd', 'amount'],
    deadlineMs: DEADLINE_MS,
    asked: params => {
      const sizes = sizesIn(params)
      return async (chain, token) => {
        const answer = await chain.exit(token, sizes)
        return answer.outcome === 'exit' ? { outcome: 'answer', json: answer.exit } : answer
      }
    },
    unpriced: 'the token has no price at present, so there is no route to sell it',
    stable: 'other tokens are sold into it',
  })
  app.get('/v1/exit/:chain_id/:token_address', respond)
}

/** Either dollars at the published price, or units of the token. */
function sizesIn(params: Params): SaleSizes {
  const amount = params.text('amount')
  const usd = params.text('usd')
  if (amount !== null && usd !== null)
    throw malformedQuote({ kind: 'params', message: 'usd and amount are both given; expected one of them' })
  return amount === null
    ? { in: 'microusd', values: listIn('usd', usd ?? DEFAULT_USD, microusdIn) }
    : { in: 'units', values: listIn('amount', amount, unitsIn) }
}

function listIn(name: string, text: string, valueIn: (text: string) => bigint | null): readonly string[] {
  const sizes = text.split(',')
  if (sizes.length > MAX_SIZES)
    throw malformedQuote({
      kind: 'params',
      message: `${name} has ${sizes.length} sizes; expected at most ${MAX_SIZES}`,
    })
  return sizes.map(size => {
    const value = valueIn(size)
    if (value === null)
      throw malformedQuote({
        kind: 'params',
        message: `${name} has the size ${JSON.stringify(size.slice(0, 40))}; expected ${EXPECTED[name]}`,
      })
    return value.toString()
  })
}

const EXPECTED: Readonly<Record<string, string>> = {
  usd: 'dollars above 0 and up to 1000000000000, such as 1000 or 0.5, with at most 6 decimals',
  amount: 'a whole number of the smallest units above 0 and below 2^256',
}

function microusdIn(text: string): bigint | null {
  const match = /^(0|[1-9][0-9]{0,12})(?:\.([0-9]{1,6}))?$/.exec(text)
  if (match === null) return null
  const value = BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))
  return value > 0n && value <= MAX_MICROUSD ? value : null
}

function unitsIn(text: string): bigint | null {
  if (!/^[1-9][0-9]{0,77}$/.test(text)) return null
  const value = BigInt(text)
  return value <= MAX_UNITS ? value : null
}
