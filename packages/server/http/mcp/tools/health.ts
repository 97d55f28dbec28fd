/** The tool `health`: which chains are served, and how far each is followed. */
import type { ChainList } from '@assay/sdk'
import { list, object, text, type Tool, wholeOrNull, whole } from '../tool.ts'
import { feedWords } from '../words.ts'

const CHAIN = object({
  chain_id: whole('The chain.'),
  status: text('HEALTHY, DEGRADED (lower scores), GAP or UNAVAILABLE (no prices).'),
  reasons: list(
    object({ code: text('The code.'), meaning: text('The code in a sentence.') }),
    'Why it is not HEALTHY, worst first.',
  ),
  head_block: wholeOrNull('The newest verified block.'),
  processed_block: wholeOrNull('The newest block behind the prices.'),
  finalized_block: wholeOrNull('The newest final block.'),
  lag_ms: wholeOrNull('How far prices are behind the head.'),
  updated_at_ms: wholeOrNull('When this was reported, in Unix milliseconds.'),
})

export const HEALTH: Tool = {
  name: 'health',
  title: 'Chains and their feeds',
  description:
    'The chains this service serves, with the state of each feed and the newest block prices are based on. Call it first to learn the chain ids.',
  input: object({}),
  output: object({ chains: list(CHAIN, 'Every served chain.') }),
  async run(_, { client }) {
    const { chains } = await client.fetchChains()
    return { chains: chains.map(chainOf) }
  },
}

const chainOf = ({ chain_id, health }: ChainList['chains'][number]) => ({
  chain_id,
  status: health?.status ?? 'UNAVAILABLE',
  reasons: (health?.reasons ?? []).map(code => ({ code, meaning: feedWords(code) })),
  head_block: health?.head?.block_number ?? null,
  processed_block: health?.processed?.block_number ?? null,
  finalized_block: health?.finalized?.block_number ?? null,
  lag_ms: health?.lag_ms ?? null,
  updated_at_ms: health?.updated_at_ms ?? null,
})
