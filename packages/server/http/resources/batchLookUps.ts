/**
 * The unknown tokens of a batch: each is enrolled as if it had been requested alone, or refused in its entry. All their
 * store records are written at once, and only entries that start a look-up are charged.
 */
import type { QuoteErrorCode } from '@assay/sdk/wire'
import type { Principal } from '../../access/access.ts'
import type { Address } from '../../ops/hex.ts'
import type { Enrolment } from '../../worker/chainService.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { admit, type Fee, pendingText, progressOf, startEnrolment, underway } from './enrol.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'store'>

type Asked = { readonly chainId: number; readonly tokenAddress: Address }
type LookedUp =
  | { readonly quote: object }
  | {
      readonly error: {
        readonly code: QuoteErrorCode
        readonly message: string
        readonly detail: string | null
      }
    }

/** A refused entry has the quote error of a single request. */
type Entry =
  | { readonly asked: Asked; readonly failure: QuoteError }
  | { readonly asked: Asked; readonly chain: ServedChain; readonly progress: Enrolment | null }

export async function lookUpAll(
  context: Needs,
  principal: Principal,
  asked: readonly Asked[],
  fee: Fee,
): Promise<readonly LookedUp[]> {
  const entries = await Promise.all(asked.map(each => entryOf(context, each)))
  const refusals = await refusalsOf(context, principal, entries, fee)
  return Promise.all(
    entries.map(entry =>
      orError(async () => {
        if ('failure' in entry) throw entry.failure
        const { chain, progress } = entry
        const { chainId, tokenAddress } = entry.asked
        const refusal = refusals.get(keyOf(entry.asked)) ?? null
        if (refusal !== null) throw refusal
        const enrolment =
          progress === null
            ? await startEnrolment(principal, { chain, token: tokenAddress })
            : underway(progress, chain, tokenAddress)
        const pending =
          enrolment.state === 'PENDING' ? enrolment : { stage: 'EVALUATION', retryAfterMs: 1000 }
        return { quote: pendingText(chainId, tokenAddress, pending) }
      }),
    ),
  )
}

/** Refusals by token, for those that would start a look-up: a token listed twice is looked up, and charged, once. */
async function refusalsOf(
  context: Pick<HttpContext, 'clock' | 'store'>,
  principal: Principal,
  entries: readonly Entry[],
  fee: Fee,
): Promise<ReadonlyMap<string, Error | null>> {
  const starting = new Map(
    entries.flatMap(entry =>
      'chain' in entry && entry.progress === null
        ? [[keyOf(entry.asked), { chain: entry.chain, token: entry.asked.tokenAddress }] as const]
        : [],
    ),
  )
  const refusals = await admit(context, principal, [...starting.values()], fee)
  return new Map([...starting.keys()].map((key, at) => [key, refusals[at] ?? null]))
}

const keyOf = ({ chainId, tokenAddress }: Asked): string => `${chainId}/${tokenAddress}`

async function entryOf({ chains }: Pick<HttpContext, 'chains'>, asked: Asked): Promise<Entry> {
  try {
    const chain = chains.get(asked.chainId)
    if (chain === undefined)
      throw new QuoteError(
        'UNSUPPORTED_CHAIN',
        `chain ${asked.chainId} is not served; served are ${[...chains.keys()].join(', ')}`,
      )
    return { asked, chain, progress: await progressOf(chain, asked.tokenAddress) }
  } catch (failure) {
    if (failure instanceof QuoteError) return { asked, failure }
    throw failure
  }
}

async function orError(work: () => Promise<LookedUp>): Promise<LookedUp> {
  try {
    return await work()
  } catch (failure) {
    if (!(failure instanceof QuoteError)) throw failure
    const { code, message, detail } = failure
    return { error: { code, message, detail } }
  }
}
