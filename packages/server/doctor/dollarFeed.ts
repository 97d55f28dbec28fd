/**
 * Checks from a feed's own description that a listed dollar feed is in dollars. A ratio to ether used as dollars would
 * be wrong by orders of magnitude and look healthy.
 */
import { SELECTOR } from '../market/abi.ts'
import { textFrom } from '../market/tokenReader.ts'
import { uintAt, wordCount } from '../market/abiWords.ts'
import { type ChainConfig, dollarFeeds } from '../config/config.ts'
import type { Address, Hex } from '../ops/hex.ts'

const IN_DOLLARS = /\/\s*USD$/i
/** Decimals of every dollar feed without a description; feeds in ether have 18. */
const USUAL_DECIMALS = 8
/** The same as for tokens. */
const MAX_DECIMALS = 36

type Answers = (to: Address, data: Hex) => Promise<Hex | null>

/** One fault per feed, with its key in the chain's section. */
export async function feedFaults(chain: ChainConfig, answers: Answers): Promise<readonly string[]> {
  const faults = await Promise.all(
    dollarFeeds(chain).map(async ({ usdFeed, key }) => {
      const [description, decimals] = await Promise.all([
        answers(usdFeed.address, SELECTOR['description()']),
        answers(usdFeed.address, SELECTOR['decimals()']),
      ])
      const fault = notInDollars(textFrom(description), numberFrom(decimals))
      return fault === null ? null : `${key}: the feed at ${usdFeed.address} ${fault}`
    }),
  )
  return faults.filter(each => each !== null)
}

/** Null for a feed in dollars, and for one that could not be read. */
export function notInDollars(description: string | null, decimals: number | null): string | null {
  if (description === null && decimals === null) return null
  if (description !== null && !IN_DOLLARS.test(description.trim()))
    return `is not in dollars: its description is ${JSON.stringify(description)}; use one whose description ends in "/ USD"`
  if (decimals !== null && decimals > MAX_DECIMALS)
    return `has ${decimals} decimals; expected at most ${MAX_DECIMALS}`
  if (description === null && decimals !== USUAL_DECIMALS)
    return `has no description and has ${decimals} decimals; dollar feeds have ${USUAL_DECIMALS}; check the address`
  return null
}

const numberFrom = (answer: Hex | null): number | null =>
  answer === null || wordCount(answer) < 1 ? null : Number(uintAt(answer, 0))
