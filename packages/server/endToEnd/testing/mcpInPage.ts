/** The official client of MCP as a script for pages in a browser. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export type Used = { readonly tools: number; readonly chains: readonly number[] }

/** How many tools there are and the chains that `health` names; the HTTP status, if any, where it cannot connect. */
export async function useTools(
  baseUrl: string,
  key: string,
  revision: string,
): Promise<Used | number | 'unreachable'> {
  const client = new Client(
    { name: 'page', version: '1.0.0' },
    { versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision } } },
  )
  // The last two are for a gateway in front of the service.
  const headers = { authorization: `Bearer ${key}`, 'x-api-key': 'gateway', 'mcp-session-id': '7' }
  try {
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), { requestInit: { headers } }),
    )
    const { tools } = await client.listTools()
    const { structuredContent } = await client.callTool({ name: 'health', arguments: {} })
    const { chains } = structuredContent as { readonly chains: readonly { readonly chain_id: number }[] }
    return { tools: tools.length, chains: chains.map(({ chain_id }) => chain_id) }
  } catch (failure) {
    return (failure as { readonly status?: number }).status ?? 'unreachable'
  }
}
