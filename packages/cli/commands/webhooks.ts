/** `assay webhooks …`: addresses that are called when a record meets a condition. */
import type { Client, Webhook, WebhookCondition, WebhookDeliveryPage, WebhookWithSecret } from '@assay/sdk'
import { Command, InvalidArgumentError, Option } from 'commander'
import { EXIT, Failure } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { time } from '../terminal/words.ts'

type AddChoice = ServiceChoice & {
  readonly chain: number
  readonly token?: string
  readonly crosses?: string
  readonly direction?: 'up' | 'down'
  readonly moves?: number
  readonly scoreBelow?: number
  readonly retracted?: true
  readonly health?: true
  readonly sellability?: true
  readonly name?: string
}

const ID = 'its id, as `assay webhooks list` shows it'

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'manage URLs to call when a record meets a condition; needs a key with scope stream',
  )
  withService(webhooks.command('add'))
    .description('register a URL; its secret is printed once')
    .argument('<address>', 'http or https URL')
    .requiredOption('--chain <id>', 'the chain', whole)
    .option('--token <token>', 'token address, or its symbol', addressOrSymbol)
    .option('--crosses <usd>', 'the price crosses this many dollars')
    .addOption(
      new Option('--direction <way>', 'with --crosses, only in this direction').choices(['up', 'down']),
    )
    .option('--moves <percent>', 'the price is this far from the last one reported', basisPoints)
    .option('--score-below <score>', 'the score falls below this, or there is no price', whole)
    .option('--retracted', 'a price is withdrawn; for any token if none is given')
    .option('--health', 'the health of the chain changes')
    .option('--sellability', 'whether the token can be sold changes')
    .option('--name <name>', 'what it is for')
    .action(add)
  withService(webhooks.command('list'))
    .description('list the webhooks of this key; for an operator, all webhooks')
    .action(list)
  one(webhooks, 'show', 'show a webhook and, if it is parked, the reason', async (client, id, options) =>
    show(options, await client.webhooks.fetch(id)),
  )
  one(webhooks, 'remove', 'delete a webhook', async (client, id, options) => {
    await client.webhooks.remove(id)
    print(options, { webhook_id: id, removed: true }, () => `${id} has been deleted.`)
  })
  one(webhooks, 'test', 'send a test message now', test)
  withService(webhooks.command('deliveries'))
    .description('list deliveries made and pending, newest first')
    .argument('<webhook_id>', ID)
    .option('--limit <rows>', 'the maximum number to print', whole, 20)
    .action(async (id: string, options: ServiceChoice & { readonly limit: number }) => {
      const page = await clientOf(options).webhooks.fetchDeliveries(id, { limit: options.limit })
      print(options, page, () =>
        page.deliveries.length === 0 ? 'nothing has been delivered yet' : deliveryTable(page),
      )
    })
  one(
    webhooks,
    'rotate',
    'issue a new secret, printed once; the previous one keeps signing for a day',
    async (client, id, options) => showSecret(options, await client.webhooks.rotate(id)),
  )
  withService(webhooks.command('replay'))
    .description('match the log again after a position; repeated events keep their ids')
    .argument('<webhook_id>', ID)
    .requiredOption('--after <sequence>', 'match the records after this sequence', whole)
    .action(async (id: string, options: ServiceChoice & { readonly after: number }) =>
      show(options, await clientOf(options).webhooks.replay(id, { after_sequence: options.after })),
    )
  for (const action of ['pause', 'resume'] as const)
    one(
      webhooks,
      action,
      action === 'pause' ? 'send nothing until it is resumed' : 'continue where it was paused or parked',
      async (client, id, options) => {
        await client.webhooks[action](id)
        show(options, await client.webhooks.fetch(id))
      },
    )
  return webhooks
}

type Action = (client: Client, id: string, options: ServiceChoice) => Promise<void>

function one(webhooks: Command, name: string, about: string, action: Action): void {
  withService(webhooks.command(name))
    .description(about)
    .argument('<webhook_id>', ID)
    .action((id: string, options: ServiceChoice) => action(clientOf(options), id, options))
}

async function add(address: string, options: AddChoice): Promise<void> {
  const client = clientOf(options)
  const condition = await conditionOf(client, options)
  const name = options.name === undefined ? {} : { name: options.name }
  showSecret(options, await client.webhooks.create({ url: address, condition, ...name }))
}

const CONDITIONS = ['crosses', 'moves', 'scoreBelow', 'retracted', 'health', 'sellability'] as const

async function conditionOf(client: Client, options: AddChoice): Promise<WebhookCondition> {
  const { chain: chain_id, crosses, direction, moves, scoreBelow } = options
  const given = CONDITIONS.filter(name => options[name] !== undefined)
  const [kind] = given
  if (given.length !== 1 || kind === undefined)
    throw new Failure(
      'give one condition: --crosses, --moves, --score-below, --retracted, --health or --sellability',
      EXIT.misused,
    )
  if (direction !== undefined && kind !== 'crosses')
    throw new Failure('--direction requires --crosses', EXIT.misused)
  if (kind === 'health') return { kind, chain_id }
  if (options.token === undefined) {
    if (kind === 'retracted') return { kind, chain_id }
    throw new Failure('name the token with --token', EXIT.misused)
  }
  const of = { chain_id, token_address: await namedToken(client, chain_id, options.token) }
  if (kind === 'retracted' || kind === 'sellability') return { kind, ...of }
  if (kind === 'moves') return { kind: 'price_moves', ...of, bps: moves as number }
  if (kind === 'scoreBelow') return { kind: 'score_below', ...of, score: scoreBelow as number }
  const way = direction === undefined ? {} : { direction }
  return { kind: 'price_crosses', ...of, price_usd: crosses as string, ...way }
}

async function list(options: ServiceChoice): Promise<void> {
  const found = await clientOf(options).webhooks.fetchAll()
  print(options, found, () =>
    found.webhooks.length === 0
      ? 'There are no webhooks; `assay webhooks add` creates one.'
      : webhookTable(found.webhooks),
  )
}

async function test(client: Client, id: string, options: ServiceChoice): Promise<void> {
  const outcome = await client.webhooks.test(id)
  if (outcome.delivered !== 'YES') process.exitCode = EXIT.failed
  print(options, outcome, () =>
    outcome.delivered === 'YES' ? `delivered: status ${outcome.status}` : `not delivered: ${outcome.error}`,
  )
}

const show = (options: ServiceChoice, webhook: Webhook): void =>
  print(options, webhook, () => webhookTable([webhook]))

const showSecret = (options: ServiceChoice, webhook: WebhookWithSecret): void =>
  print(
    options,
    webhook,
    () => `${webhook.webhook_id}\n${webhook.secret}\n\nThis is the only time the secret is shown.`,
  )

const webhookTable = (webhooks: readonly Webhook[]): string =>
  table(
    ['Webhook', 'Name', 'Condition', 'Address', 'State', 'Pending'].map(title => ({ title })),
    webhooks.map(each => [
      each.webhook_id,
      each.name,
      wordsOf(each.condition),
      each.url,
      each.state === 'ACTIVE'
        ? paint('green', 'active')
        : paint('yellow', [each.state.toLowerCase(), each.reason].filter(part => part !== null).join(': ')),
      String(each.pending),
    ]),
  )

const deliveryTable = ({ deliveries }: WebhookDeliveryPage): string =>
  table(
    ['Sequence', 'State', 'Attempts', 'Last attempt (UTC)', 'Answer'].map(title => ({ title })),
    deliveries.map(each => [
      String(each.stream_sequence),
      each.state.toLowerCase(),
      String(each.attempts),
      each.last_attempt_at_ms === null ? '–' : time(each.last_attempt_at_ms),
      each.error ?? (each.status === null ? '–' : String(each.status)),
    ]),
  )

function wordsOf(condition: WebhookCondition): string {
  const of = `chain ${condition.chain_id}${'token_address' in condition ? ` ${condition.token_address}` : ''}`
  switch (condition.kind) {
    case 'price_crosses':
      return `crosses ${condition.price_usd} USD${condition.direction === undefined ? '' : ` ${condition.direction}`}, ${of}`
    case 'price_moves':
      return `moves ${condition.bps / 100}%, ${of}`
    case 'score_below':
      return `score below ${condition.score}, ${of}`
    case 'retracted':
    case 'health':
    case 'sellability':
      return `${condition.kind}, ${of}`
  }
}

function basisPoints(text: string): number {
  const [, whole = '', part = ''] = /^(\d{1,4})(?:\.(\d{1,2}))?%?$/.exec(text) ?? []
  const bps = Number(whole) * 100 + Number(part.padEnd(2, '0'))
  if (whole === '' || bps === 0)
    throw new InvalidArgumentError('Expected a percentage above 0 with at most two decimals, such as 2.5.')
  return bps
}
