/** `assay mcp`: a client can start from the printed configuration; errors when the service is down or refuses the key. */
import { afterAll, expect, it } from 'vitest'
import { callTool, startMcp } from '../server/endToEnd/testing/mcpClient.ts'
import { openTestApi } from '../server/endToEnd/testing/testApi.ts'
import { endSessions, PLACES, run } from './testing/session.ts'

type Started = {
  readonly command: string
  readonly args: string[]
  readonly env: { readonly ASSAY_KEY: string }
}
type Printed = { readonly mcpServers: { readonly assay: Started } }

afterAll(endSessions)

const SECRET = 'assay_12345678_secret'

async function printed(url: string): Promise<Started> {
  const { text } = await run('a pipe', ['mcp', '--print-config', '--json', '--url', url, '--key', SECRET])
  return (JSON.parse(text) as Printed).mcpServers.assay
}

const connect = (started: Started, key: string) => startMcp(started, key, '2026-07-28')

it.each(PLACES)(
  'on %s: --print-config prints what to paste for three kinds of clients, without the key',
  async place => {
    const { code, text } = await run(place, ['mcp', '--print-config', '--key', SECRET])
    expect(code).toBe(0)
    for (const word of [
      '"mcpServers"',
      '"servers"',
      '"type": "stdio"',
      '"type": "http"',
      '/mcp',
      'ASSAY_KEY',
    ])
      expect(text).toContain(word)
    expect(text).not.toContain(SECRET)
  },
)

it('on a terminal `assay mcp` prints the same, and does not wait for a client', async () => {
  const { code, text } = await run('a terminal', ['mcp'])
  expect([code, text.includes('"mcpServers"')]).toEqual([0, true])
})

it('a client starts from the printed configuration unchanged, and gets the tools', async () => {
  const api = await openTestApi()
  const client = await connect(await printed(api.url), await api.key(['read']))
  expect((await client.listTools()).tools.length).toBe(8)
  expect(await callTool(client, 'search', { query: 'nothing' })).toMatchObject({ tokens: [], more: 0 })
  await client.close()
  await api.close()
})

it('the agent gets an error when the service is down or refuses the key', async () => {
  const api = await openTestApi()
  const refused = await connect(await printed(api.url), 'assay_nokey')
  expect(await callTool(refused, 'health', {})).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
  await refused.close()
  await api.close()
  const away = await connect(await printed(api.url), 'assay_nokey')
  expect(await callTool(away, 'health', {})).toMatchObject({ error: { code: 'NETWORK', retryable: true } })
  await away.close()
})

it('an invalid score is refused', async () => {
  const { code, errors } = await run('a pipe', ['mcp', '--min-score', '11'])
  expect([code, errors.includes('from 0 to 10')]).toEqual([2, true])
})
