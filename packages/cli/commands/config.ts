/**
 * `assay config`: checks a configuration, shows every value with its source, creates a new file, and prints its JSON
 * Schema.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ShownConfig } from '@assay/server/config'
import { Command, InvalidArgumentError } from 'commander'
import { EXIT, Failure } from '../exit.ts'
import { assayCommand } from '../local/commandLine.ts'
import { type ConfigChoice, configFile, DEFAULT_FILE, whole, withConfig, withJson } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { type JsonChoice, print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'

const server = () => import('@assay/server/config')

const SCHEMA_FILE = 'assay.schema.json'

const chainIds = (text: string): number[] => {
  const ids = text.split(',').map(each => whole(each.trim()))
  if (new Set(ids).size !== ids.length) throw new InvalidArgumentError('A chain is named twice.')
  return ids
}

export function configCommand(): Command {
  const config = new Command('config').description('check, show or create the configuration')
  withConfig(config.command('check'))
    .description('report all faults and likely mistakes; exit code 2 if there is a fault')
    .action(check)
  withConfig(config.command('show'))
    .description('show every effective value and its source; secrets and URLs are redacted')
    .argument('[part]', 'only keys with this prefix, such as chains[0].endpoints')
    .action(show)
  withJson(config.command('init'))
    .description('write a commented configuration file, with its JSON Schema next to it')
    .argument('[file]', 'the file to write', DEFAULT_FILE)
    .option('--chains <ids>', 'the chains in it, separated by commas', chainIds, [1])
    .option('--force', 'replace an existing file')
    .action(init)
  config
    .command('schema')
    .description('print the JSON Schema of the file, for editors')
    .action(async () => console.log(await schemaText()))
  return config
}

/** The named file, otherwise `assay.yaml` if it exists, otherwise the environment. */
async function shownConfig(choice: ConfigChoice): Promise<ShownConfig & { readonly name: string }> {
  const { showConfig, showEnvironment } = await server()
  const file = configFile(choice)
  return file === null
    ? { name: 'the environment', ...showEnvironment(process.env, '.') }
    : { name: file, ...showConfig(file, process.env) }
}

async function check(options: ConfigChoice & JsonChoice): Promise<void> {
  const { name, config } = await shownConfig(options)
  const { configWarnings, historySentence } = await server()
  const warnings = configWarnings(config)
  const days = config.retention.historyDays ?? null
  const chains = config.chains.map(({ chainId, name: chain, endpoints }) => ({
    chain_id: chainId,
    name: chain,
    endpoints: endpoints.length,
  }))
  print(options, { file: name, chains, warnings }, () =>
    [
      `${paint('green', 'sound')}  ${name}`,
      ...chains.map(
        each =>
          `  chain ${each.chain_id}  ${each.name}, ${each.endpoints === 1 ? 'one endpoint' : `${each.endpoints} endpoints`}`,
      ),
      ...(days === null ? [] : [`  ${historySentence(days)}`]),
      ...warnings.map(each => `${paint('yellow', 'warning')}  ${each}`),
      `To see whether the endpoints answer: ${assayCommand()} doctor`,
    ].join('\n'),
  )
}

async function show(part: string | undefined, options: ConfigChoice & JsonChoice): Promise<void> {
  const { name, values } = await shownConfig(options)
  const chosen = values.filter(({ path }) => part === undefined || path.startsWith(part))
  if (chosen.length === 0) throw new Failure(`no key begins with ${part}`, EXIT.absent)
  print(options, { file: name, values: chosen }, () =>
    table(
      [{ title: 'Key' }, { title: 'Source' }, { title: 'Value' }],
      chosen.map(({ path, value, source }) => [
        path,
        source === 'default' || source === 'built in' ? paint('dim', source) : paint('cyan', source),
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  )
}

const schemaText = async (): Promise<string> => JSON.stringify((await server()).configSchema(), null, 2)

type InitOptions = JsonChoice & { readonly chains: readonly number[]; readonly force?: boolean }

async function init(file: string, options: InitOptions): Promise<void> {
  const { configTemplate } = await server()
  const schema = join(dirname(file), SCHEMA_FILE)
  if (existsSync(file) && options.force !== true)
    throw new Failure(`${file} already exists: --force replaces it, or choose another name`)
  writeFileSync(schema, `${await schemaText()}\n`)
  writeFileSync(file, configTemplate(options.chains, `./${basename(schema)}`), { mode: 0o600 })
  const variables = options.chains.map(id => `ASSAY_RPC_${id}`)
  const assay = assayCommand()
  print(
    options,
    { file, schema, variables },
    () => `Wrote ${file}, and ${schema} for your editor. Next:

  export ${variables.map(each => `${each}=https://…`).join(' ')}
  ${assay} config check --config ${file}
  ${assay} doctor --config ${file}
  ${assay} keys issue --config ${file} --name me --scopes read,stream
  ${assay} serve --config ${file}`,
  )
}
