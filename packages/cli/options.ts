/**
 * Options shared by several commands: a configuration, a service to call, and how their arguments are parsed.
 * Commands load the service, and the rules that `verify` needs, only when they need them, so that a price appears
 * quickly.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@assay/sdk/client'
import type { loadConfig } from '@assay/server/config'
import { PROFILES } from '@assay/world/profiles'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { EXIT, Failure } from './exit.ts'

export type ConfigChoice = { readonly config?: string }
export type ServiceChoice = { readonly url: string; readonly key?: string; readonly json?: boolean }

export const DEFAULT_FILE = 'assay.yaml'

/** The file a command names, otherwise `assay.yaml` if it exists; null without either. */
export const configFile = ({ config }: ConfigChoice): string | null =>
  config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null)

/** The folder where `npm start` keeps its files, unless `--data` names another. */
const DATA = 'data'

/**
 * The configuration of an existing installation, for the commands that operate it: the named file, otherwise
 * `assay.yaml`, otherwise the chains of `ASSAY_RPC_<chain_id>`, otherwise the file that `npm start` wrote for its
 * local world.
 */
export async function installedConfig(choice: ConfigChoice): Promise<ReturnType<typeof loadConfig>> {
  const server = await import('@assay/server/config')
  const file = configFile(choice)
  if (file !== null) return server.loadConfig(file, process.env)
  if (server.hasShortCut(process.env)) {
    const database = join(DATA, 'chains.db')
    return server.environmentConfig(process.env, {
      folder: '.',
      ...(existsSync(database) ? { database } : {}),
    })
  }
  const started = join(DATA, DEFAULT_FILE)
  if (existsSync(started)) return server.loadConfig(started, process.env)
  throw new Failure(
    `no configuration was found: there is no ${DEFAULT_FILE} and no ${started} in ${process.cwd()}, and no ASSAY_RPC_<chain_id> is set.\nRun this in the folder of \`npm start\`, or name the file with --config.`,
    EXIT.misused,
  )
}

/** The configuration in that file, otherwise the chains of `ASSAY_RPC_<chain_id>`. */
export async function configOf(choice: ConfigChoice): Promise<ReturnType<typeof loadConfig>> {
  const server = await import('@assay/server/config')
  const file = configFile(choice)
  return file === null
    ? server.environmentConfig(process.env, { folder: '.' })
    : server.loadConfig(file, process.env)
}

export const clientOf = ({ url, key }: ServiceChoice): Client =>
  createClient({ baseUrl: url, ...(key === undefined ? {} : { apiKey: key }) })

/** `--json`, which every command has. */
export const withJson = (command: Command): Command => command.option('--json', 'print JSON')

export const withConfig = (command: Command): Command =>
  withJson(
    command.option(
      '--config <file>',
      'the configuration; by default assay.yaml if it exists, else the chains of ASSAY_RPC_<chain_id>',
    ),
  )

/** `--config`, for the commands that operate an installation. */
export const withInstalled = (command: Command): Command =>
  withJson(
    command.option(
      '--config <file>',
      `the configuration; by default assay.yaml, the chains of ASSAY_RPC_<chain_id>, or ${DATA}/assay.yaml of \`npm start\``,
    ),
  )

export const withService = (command: Command): Command =>
  withJson(
    command
      .addOption(new Option('--url <url>', 'the service').env('ASSAY_URL').default('http://127.0.0.1:8080'))
      .addOption(new Option('--key <key>', 'an API key').env('ASSAY_KEY')),
  )

/** `--profile`, for the commands that run the local world. */
export const withProfile = (command: Command): Command =>
  command.addOption(
    new Option(
      '--profile <name>',
      'how the endpoints of the local chains behave; by default like a local node',
    ).choices(PROFILES.map(({ name }) => name)),
  )

export const whole = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
}

export const port = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535.')
  return Number(text)
}

export const tokenAddress = (text: string): `0x${string}` => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    throw new InvalidArgumentError(
      'Expected an address, 0x and 40 hex digits; `assay search SYMBOL` finds that of a token.',
    )
  return text as `0x${string}`
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A moment: `15m` ago, a date, or Unix milliseconds. */
export const moment = (text: string): number => {
  const ago = /^(\d{1,6})([smhd])$/.exec(text)
  if (ago !== null) return Date.now() - Number(ago[1]) * (UNIT_MS[ago[2] as string] as number)
  const value = /^\d{13}$/.test(text) ? Number(text) : Date.parse(text)
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(
      'Expected 15m, 2h or 7d ago, a date such as 2026-11-15T10:00Z, or Unix milliseconds.',
    )
  return value
}
