/** Endpoints for programs written for other services, and for agents. They always need a key. */
import { flag, integer, mapping, nullish, text } from '../field.ts'
import { HOST, port } from '../formats.ts'
import { onLoopback } from './listen.ts'

export const COMPAT = mapping(
  'Endpoints in the formats of other services, for programs written for those; see docs/MIGRATING.md.',
  {
    coingecko: flag(
      'CoinGecko endpoints below /compat/coingecko; on by default if listen.host is loopback.',
      onLoopback,
    ),
    defillama: flag('DefiLlama endpoints below /compat/defillama; the same default.', onLoopback),
    udf: flag('A feed for TradingView charts below /compat/udf; the same default.', onLoopback),
    min_score: integer('Prices with a lower score are omitted from those endpoints.', [1, 10], {
      default: 1,
    }),
    listen: nullish(
      mapping(
        'A second address with these endpoints at its root, for programs whose base URL cannot have a path; by default none.',
        {
          host: text('Address to listen on; by default that of listen.host.', HOST, {
            defaultFrom: { says: '`listen.host`', of: ({ listen }) => listen.host },
            examples: ['127.0.0.1'],
          }),
          port: port(0, { examples: [8081] }),
        },
      ),
    ),
  },
)

export const MCP = mapping('Tools for agents (Model Context Protocol) at /mcp; see docs/MCP.md.', {
  enabled: flag('Whether they are served; on by default if listen.host is loopback.', onLoopback),
  min_score: integer('Below this score an agent gets the reason but no number.', [0, 10], {
    // Prices with a score of 3 or less are labelled Low: one nominal stable, an unreadable past, disagreeing sources.
    default: 4,
  }),
})
