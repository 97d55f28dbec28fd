/** `assay serve`: runs until it receives a signal, then closes everything in order. */
import { Command, Option } from 'commander'
import { Failure, EXIT } from '../exit.ts'
import { untilStopped } from '../local/signals.ts'
import { type ConfigChoice, configOf, port, whole, withConfig } from '../options.ts'
import { type JsonChoice, print } from '../terminal/print.ts'

export const ROLES = ['all', 'api', 'chain'] as const

type Options = ConfigChoice &
  JsonChoice & {
    readonly role: (typeof ROLES)[number]
    readonly chain?: readonly number[]
    readonly port?: number
  }

export const serveCommand = (): Command =>
  withConfig(new Command('serve'))
    .description('serve exactly what a configuration file specifies, or the chains of ASSAY_RPC_<chain_id>')
    .addOption(
      new Option('--role <role>', 'what this process does; roles other than all share a PostgreSQL database')
        .choices(ROLES)
        .default('all'),
    )
    .addOption(
      new Option('--chain <id>', 'with --role chain: only this one; may be repeated').argParser(
        (text: string, others: readonly number[] | undefined) => [...(others ?? []), whole(text)],
      ),
    )
    .option('--port <port>', 'port to listen on, overriding the configuration', port)
    .action(serve)

async function serve(options: Options): Promise<void> {
  if (options.chain !== undefined && options.role !== 'chain')
    throw new Failure('--chain selects the chains a process writes: use it with --role chain', EXIT.misused)
  if (options.port !== undefined && options.role === 'chain')
    throw new Failure('--port is where the API listens: a process with --role chain has none', EXIT.misused)
  const [{ buildConsole }, { startApiNode, startChainNode, startService }, { preflight }] = await Promise.all(
    [import('@assay/console/build'), import('@assay/server'), import('@assay/server/doctor')],
  )
  const read = await configOf(options)
  const config =
    options.port === undefined ? read : { ...read, listen: { ...read.listen, port: options.port } }
  // An API node calls no endpoint.
  if (options.role !== 'api')
    for (const warning of await preflight(config)) console.error(`warning: ${warning}`)
  if (options.role === 'chain') {
    const chains = options.chain === undefined ? {} : { chainIds: options.chain }
    const node = await startChainNode({ config, ...chains })
    print(options, { role: 'chain' }, () => 'Assay is ready to write its chains')
    await untilStopped()
    return node.close()
  }
  const consoleFolder = await buildConsole(line => console.error(line))
  const start = options.role === 'api' ? startApiNode : startService
  const service = await start({ config, consoleFolder })
  print(options, { url: service.url }, () => `Assay serves at ${service.url}`)
  await untilStopped()
  await service.close()
}
