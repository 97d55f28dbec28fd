/** `assay world incident`: causes an incident in a running world; `incidents` lists the available ones. */
import { resolve } from 'node:path'
import type { IncidentWish } from '@assay/world'
import { Command } from 'commander'
import { Failure } from '../exit.ts'
import { whole, withJson } from '../options.ts'
import { type JsonChoice, print } from '../terminal/print.ts'
import { during } from '../terminal/progress.ts'
import { table } from '../terminal/table.ts'

type Options = JsonChoice & {
  readonly data: string
  readonly chain?: number
  readonly token?: string
  readonly depth?: number
  readonly end?: boolean
}

export const incidentsCommand = (): Command =>
  withJson(new Command('incidents'))
    .description('list the incidents of a running world')
    .action(listIncidents)

async function listIncidents(options: JsonChoice): Promise<void> {
  const { INCIDENTS } = await import('@assay/world')
  print(
    options,
    { incidents: INCIDENTS.map(({ name, about, end }) => ({ name, about, has_end: end !== undefined })) },
    () =>
      table(
        [{ title: 'Incident' }, { title: 'Ends' }, { title: 'What happens' }],
        INCIDENTS.map(({ name, about, end }) => [name, end === undefined ? '' : '--end', about]),
      ),
  )
}

export const incidentCommand = (): Command =>
  withJson(new Command('incident'))
    .description('cause an incident in a running world')
    .argument('<name>', 'one of `world incidents`')
    .option('--data <folder>', 'folder of the world', './data')
    .option('--chain <id>', 'chain id; by default the first', whole)
    .option('--token <symbol>', 'a token of that chain; by default the first suitable one')
    .option('--depth <blocks>', 'blocks to replace, for reorg', whole)
    .option('--end', 'end the incident, if it has a duration')
    .action(causeIncident)

async function causeIncident(name: string, options: Options): Promise<void> {
  const { askForIncident } = await import('../local/worldControl.ts')
  const folder = resolve(options.data)
  const wish: IncidentWish = {
    name,
    ...(options.chain === undefined ? {} : { chainId: options.chain }),
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.depth === undefined ? {} : { depth: options.depth }),
    ...(options.end === true ? { isEnd: true } : {}),
  }
  const account = await during('Waiting for a block', () => askForIncident(folder, wish))
  if (account === null)
    throw new Failure(`no world runs in ${folder}: start one with npm start, or name its folder with --data`)
  const { chainId, what, pools, block } = account
  print(options, account, () =>
    [
      `chain ${chainId}, block ${block.number}: ${what}`,
      ...pools.map(pool => `  pool ${pool.toLowerCase()}`),
    ].join('\n'),
  )
}
