/** The tool `history`: what was published about a token, at a moment or over a period. */
import type { HistoryPage, HistoryQuery } from '@assay/sdk'
import { PRICE_FIELDS, priceOf } from '../price.ts'
import { list, object, textOrNull, TOKEN, type Tool, type TokenArguments, whole } from '../tool.ts'

const DEFAULT_ENTRIES = 20
const MOST_ENTRIES = 50

const TIME = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

export const HISTORY: Tool = {
  name: 'history',
  title: 'Published prices of a token over time',
  description: `What this service published about a token: at a moment (at_ms or at_block) or over a range of time (from_ms, to_ms), oldest first. Each entry has the block, score and expiry it was published with; entries below the minimum score have no number. Up to ${MOST_ENTRIES} entries a page.`,
  input: object(
    {
      ...TOKEN,
      at_ms: {
        ...TIME,
        description: 'The state in force at this time, Unix milliseconds; not with from_ms or to_ms.',
      },
      at_block: { ...TIME, description: 'The state in force at this block; not with times.' },
      from_ms: { ...TIME, description: 'From this time on, Unix milliseconds; with to_ms.' },
      to_ms: { ...TIME, description: 'Before this time, Unix milliseconds; with from_ms.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_ENTRIES,
        description: `Entries per page; ${DEFAULT_ENTRIES} by default.`,
      },
      cursor: {
        type: 'string',
        maxLength: 1024,
        description: 'next_cursor of the previous page, with the same arguments.',
      },
    },
    ['chain_id', 'token_address'],
  ),
  output: object({
    entries: list(object(PRICE_FIELDS), 'As they were published, oldest first.'),
    next_cursor: textOrNull('Give it as cursor for the next page; null at the end.'),
    gaps: list(
      object({ from_block: whole('The first block.'), to_block: whole('The last block.') }),
      'Blocks that were not followed: what happened in them was not seen.',
    ),
  }),
  async run(given, asked) {
    const { chain_id, token_address, limit = DEFAULT_ENTRIES, ...rest } = given as unknown as Given
    const isMoment = rest.at_ms !== undefined || rest.at_block !== undefined
    const page: HistoryPage = await asked.client.fetchHistory({
      chain_id,
      token_address,
      ...rest,
      ...(isMoment ? {} : { limit }),
    })
    return {
      entries: page.prices.map(entry => priceOf({ chain_id, token_address }, entry, asked)),
      next_cursor: page.next_cursor,
      gaps: (page.gaps ?? []).map(({ from_block, to_block }) => ({ from_block, to_block })),
    }
  },
}

type Given = TokenArguments &
  Pick<HistoryQuery, 'at_ms' | 'at_block' | 'from_ms' | 'to_ms' | 'limit' | 'cursor'>
