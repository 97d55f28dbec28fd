/** The configuration file (R-config-1): YAML, `${NAME}` from the environment, every fault reported at once. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, toConfig } from './config.ts'
import { ConfigError, FaultLog } from './faultLog.ts'
import { read } from './read.ts'
import { type ConfigDocument, SCHEMA } from './schema.ts'
import { type Environment, expandVariables, notYaml, parseYaml } from './yamlText.ts'

/** A configuration as it was read, and as the program uses it. */
export type LoadedConfig = { readonly document: ConfigDocument; readonly config: Config }

export const loadConfig = (file: string, environment: Environment): Config =>
  loadDocument(file, environment).config

export function loadDocument(file: string, environment: Environment): LoadedConfig {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(file, [
      {
        path: 'file',
        received: 'nothing that can be read',
        expected: 'a configuration file; `npm start` writes one for the local world',
      },
    ])
  }
  const faults = new FaultLog()
  const expanded = expandVariables(text, environment, faults)
  let value: unknown
  try {
    value = parseYaml(expanded)
  } catch (failure) {
    throw new ConfigError(file, [{ path: 'file', received: notYaml(failure), expected: 'YAML' }])
  }
  const loaded = readDocument(faults, value, dirname(resolve(file)))
  if (faults.faults.length > 0) throw new ConfigError(file, faults.faults)
  return loaded
}

/** Faults are collected in the log. Paths are relative to the folder. */
export function readDocument(faults: FaultLog, value: unknown, folder: string): LoadedConfig {
  const document = read(SCHEMA, value, faults, folder)
  return { document, config: toConfig(document, folder) }
}

export const configFrom = (faults: FaultLog, value: unknown, folder: string): Config =>
  readDocument(faults, value, folder).config
