/**
 * `assay mcp`: the tools for agents over stdio, which call a service with a key. An agent's program starts it; in a
 * terminal it prints the text to paste into the client.
 */
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError } from 'commander'
import { clientOf, type ServiceChoice, withService } from '../options.ts'
import { print } from '../terminal/print.ts'

type Choice = ServiceChoice & { readonly minScore: number; readonly printConfig?: boolean }

export const mcpCommand = (): Command =>
  withService(new Command('mcp'))
    .description(
      'serve tools for agents (Model Context Protocol) over stdio; on a terminal, print what to paste into a client',
    )
    .option('--min-score <score>', 'below this score agents get the reason but no number', score, 4)
    .option('--print-config', 'print what to paste into the configuration of a client')
    .action((options: Choice) =>
      options.printConfig === true || process.stdin.isTTY ? printConfig(options) : serveStdio(options),
    )

const score = (text: string): number => {
  if (!/^(?:\d|10)$/.test(text)) throw new InvalidArgumentError('Expected a score from 0 to 10.')
  return Number(text)
}

/** Concurrent questions; further lines wait in the pipe. */
const MAX_AT_ONCE = 8

/** Runs until the other side closes its end. Questions being answered at that point are still answered. */
async function serveStdio(options: Choice): Promise<void> {
  const { answerToLine } = await import('@assay/server/mcp')
  const door = { client: clientOf(options), minScore: options.minScore, pay: async () => {} }
  const underWay = new Set<Promise<void>>()
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  for await (const line of lines) {
    if (line.trim() === '') continue
    const work = answerToLine(line, door).then(answer => {
      if (answer !== null) process.stdout.write(`${answer}\n`)
      underWay.delete(work)
    })
    underWay.add(work)
    if (underWay.size >= MAX_AT_ONCE) await Promise.race(underWay)
  }
  await Promise.all(underWay)
}

const SCRIPT = fileURLToPath(new URL('../bin.js', import.meta.url))
const PLACE_OF_KEY = 'assay_… (from: assay keys issue --name agent --scopes read)'

function printConfig(options: Choice): void {
  const { url, minScore } = options
  const local = {
    command: process.execPath,
    args: [SCRIPT, 'mcp', '--url', url, '--min-score', String(minScore)],
    env: { ASSAY_KEY: PLACE_OF_KEY },
  }
  const remote = {
    url: new URL('mcp', url.endsWith('/') ? url : `${url}/`).href,
    headers: { Authorization: `Bearer ${PLACE_OF_KEY}` },
  }
  const desktop = { mcpServers: { assay: local } }
  const code = { servers: { assay: { type: 'stdio', ...local } } }
  const overHttp = { servers: { assay: { type: 'http', ...remote } } }
  print(options, desktop, () =>
    [
      'Claude Desktop, Cursor and others (claude_desktop_config.json, .cursor/mcp.json):',
      JSON.stringify(desktop, null, 2),
      'VS Code (.vscode/mcp.json):',
      JSON.stringify(code, null, 2),
      'Without a separate process, if the service has mcp.enabled:',
      JSON.stringify(overHttp, null, 2),
      'Put a key with the scope read in the place of assay_…',
    ].join('\n\n'),
  )
}
