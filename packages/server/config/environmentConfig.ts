/** A configuration without a file: `ASSAY_RPC_<chain_id>=url[,url]` serves that chain from the built-in table. */
import { resolve } from 'node:path'
import { CHAIN_TABLE } from './chainTable.ts'
import type { Config } from './config.ts'
import { ConfigError, FaultLog } from './faultLog.ts'
import { type LoadedConfig, readDocument } from './loadConfig.ts'
import type { Environment } from './yamlText.ts'

/** `ASSAY_RPC_1_SECOND` and similar names are for use inside a file. */
const SHORT_CUT = /^ASSAY_RPC_(?!\d+_)(.*)$/

/** Whether the environment names endpoints of built-in chains. */
export const hasShortCut = (environment: Environment): boolean =>
  Object.entries(environment).some(([name, value]) => SHORT_CUT.test(name) && value !== undefined)

type Service = { readonly folder: string; readonly port?: number; readonly database?: string }

/** Faults name the variable. */
export const environmentConfig = (environment: Environment, service: Service): Config =>
  environmentDocument(environment, service).config

export function environmentDocument(environment: Environment, service: Service): LoadedConfig {
  const log = new FaultLog()
  const names: string[] = []
  const chains: object[] = []
  for (const [name, value] of Object.entries(environment).sort()) {
    const id = SHORT_CUT.exec(name)?.[1]
    if (id === undefined || value === undefined) continue
    const known = Object.keys(CHAIN_TABLE)
    if (!known.includes(id)) {
      log.add(name, id, `ASSAY_RPC_ and one of ${known.join(', ')}; configure other chains in a file`)
      continue
    }
    names.push(name)
    const endpoints = value.split(',').map((url, at) => ({ name: `rpc-${at + 1}`, url }))
    chains.push({ chain_id: Number(id), endpoints })
  }
  if (!hasShortCut(environment))
    log.add('ASSAY_RPC_1', undefined, 'ASSAY_RPC_<chain_id>=url[,url], or a file with --config')
  // Having no chain left then is not another fault.
  if (chains.length === 0) throw new ConfigError('the environment', log.faults)
  const document = {
    ...(service.port === undefined ? {} : { listen: { port: service.port } }),
    ...(service.database === undefined ? {} : { store: `sqlite:${service.database}` }),
    chains,
  }
  const loaded = readDocument(log, document, resolve(service.folder))
  const faults = log.faults.map(fault => ({
    ...fault,
    path: fault.path.replace(/^chains\[(\d+)\](?:\.endpoints\[(\d+)\]\.url)?/, (_, chain, url) => {
      const name = names[Number(chain)] ?? ''
      return url === undefined ? name : `${name}, URL ${Number(url) + 1}`
    }),
  }))
  if (faults.length > 0) throw new ConfigError('the environment', faults)
  return loaded
}
