/** The official client of MCP, over either transport and in either revision, with a key of the service's. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export const WAYS = [
  { transport: 'HTTP', revision: '2026-07-28' },
  { transport: 'HTTP', revision: '2025-11-25' },
  { transport: 'stdio', revision: '2026-07-28' },
  { transport: 'stdio', revision: '2025-11-25' },
] as const
export type Way = (typeof WAYS)[number]

const ASSAY = fileURLToPath(new URL('../../../cli/bin.js', import.meta.url))

export async function connectMcp(url: string, key: string, { transport, revision }: Way): Promise<Client> {
  const started = { command: process.execPath, args: [ASSAY, 'mcp', '--url', url] }
  if (transport === 'stdio') return startMcp(started, key, revision)
  return connected(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
    revision,
  )
}

type Started = { readonly command: string; readonly args: readonly string[] }

/** Starts what a client's configuration names, with the key in its environment. */
export const startMcp = (
  { command, args }: Started,
  key: string,
  revision: Way['revision'],
): Promise<Client> =>
  connected(new StdioClientTransport({ command, args: [...args], env: { ASSAY_KEY: key } }), revision)

async function connected(
  transport: Parameters<Client['connect']>[0],
  revision: Way['revision'],
): Promise<Client> {
  const client = new Client(
    { name: 'assay-test', version: '1.0.0' },
    { versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision } } },
  )
  await client.connect(transport)
  return client
}

/** A tool's result, which is twice in its response: as an object, and as text for older clients. */
export async function callTool(
  client: Client,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: given })
  const [first] = content
  if (first?.type !== 'text') throw new Error(`${name} gave no text`)
  const result = JSON.parse(first.text) as Record<string, unknown>
  if (isError === true) return result
  if (JSON.stringify(structuredContent) !== first.text) throw new Error(`${name} has two results`)
  return result
}
