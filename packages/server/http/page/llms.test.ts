/** /llms.txt is true: the endpoints it names are served, and the tools it names can be connected to. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask } from '../../endToEnd/testing/answer.ts'
import { connectMcp, WAYS } from '../../endToEnd/testing/mcpClient.ts'
import { openTestApi, type TestApi } from '../../endToEnd/testing/testApi.ts'

let api: TestApi
let key: string
let text: string
beforeAll(async () => {
  api = await openTestApi()
  key = await api.key(['read'])
  // Without a key: an agent reads it before it has one.
  const response = await fetch(`${api.url}/llms.txt`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  text = await response.text()
})
afterAll(() => api?.close())

it('names endpoints of the API, and only existing ones', async () => {
  const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: object }
  const named = [...text.matchAll(/`(?:GET|POST) (\/v1\/[^?`]+)/g)].map(([, path]) => path)
  expect(named.length).toBeGreaterThan(6)
  expect(named.filter(path => !((path as string) in paths))).toEqual([])
})

it('names the prefix of every other service whose clients are served', async () => {
  const prefixes = [...text.matchAll(/`(\/compat\/[a-z]+)`/g)].map(([, prefix]) => prefix)
  expect(prefixes).toEqual(['/compat/coingecko', '/compat/defillama', '/compat/udf'])
  const served = ['/ping', `/prices/first/ethereum:0x${'a1'.repeat(20)}`, '/config']
  for (const [at, prefix] of prefixes.entries())
    expect((await ask(`${api.url}${prefix}${served[at]}`, { key })).status).toBe(200)
})

type Pasted = {
  readonly mcpServers: {
    readonly assay: { readonly type: string; readonly url: string; readonly headers: object }
  }
}

it('describes how an MCP client connects, and which tools it then has', async () => {
  const pasted = /^ {2}`(\{"mcpServers".+\})`$/m.exec(text)?.[1] ?? ''
  const { assay } = (JSON.parse(pasted.replace('assay_…', key)) as Pasted).mcpServers
  expect(assay).toEqual({
    type: 'http',
    url: 'http://127.0.0.1:8080/mcp',
    headers: { Authorization: `Bearer ${key}` },
  })
  for (const way of WAYS) {
    const client = await connectMcp(api.url, key, way)
    const { tools } = await client.listTools()
    for (const { name } of tools) expect(text).toContain(`\`${name}\``)
    await client.close()
  }
  expect(text).toContain('`assay mcp --print-config`')
})
