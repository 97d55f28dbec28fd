/**
 * The effective configuration, value by value, with the source of each: a line of the file, an environment variable,
 * the built-in table, or a default. Values that may contain a secret are shown as `[redacted]`.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { mergePolicy } from '@assay/engine'
import { type Document, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { Secret } from '../ops/secret.ts'
import { CHAIN_TABLE } from './chainTable.ts'
import type { Config } from './config.ts'
import { environmentDocument } from './environmentConfig.ts'
import { join } from './faultLog.ts'
import { type LoadedConfig, loadDocument } from './loadConfig.ts'
import type { Environment } from './yamlText.ts'

export type ShownValue = { readonly path: string; readonly value: unknown; readonly source: string }
export type ShownConfig = { readonly config: Config; readonly values: readonly ShownValue[] }

type Step = string | number
type SourceOf = (path: readonly Step[]) => string | null

/** Throws the faults of loading, and every fault of the policy. */
export function showConfig(file: string, environment: Environment): ShownConfig {
  const loaded = loadDocument(file, environment)
  const lines = new LineCounter()
  const text = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines })
  return shown(loaded, path => sourceInFile(text, lines, basename(file), path))
}

/** The configuration without a file, from `ASSAY_RPC_<chain_id>`. */
export function showEnvironment(environment: Environment, folder: string): ShownConfig {
  const loaded = environmentDocument(environment, { folder })
  return shown(loaded, path => {
    const chain = loaded.config.chains[path[1] as number]
    const isNamed = path[0] === 'chains' && (path[2] === 'chain_id' || path[2] === 'endpoints')
    return isNamed ? `ASSAY_RPC_${chain?.chainId}` : null
  })
}

function shown({ document, config }: LoadedConfig, sourceOf: SourceOf): ShownConfig {
  const leaves = leavesOf({ ...document, policy: mergePolicy(config.policy) }, [])
  const values = leaves.map(({ path, value }) => ({
    path: path.reduce<string>(join, ''),
    value: value instanceof Secret ? String(value) : value,
    source: sourceOf(path) ?? (isBuiltIn(config, path) ? 'built in' : 'default'),
  }))
  return { config, values }
}

/** Null when the file does not contain it. */
function sourceInFile(
  document: Document,
  lines: LineCounter,
  file: string,
  path: readonly Step[],
): string | null {
  const node = document.getIn(path, true)
  if (!isNode(node) || node.range == null) return null
  const place = `${file}:${lines.linePos(node.range[0]).line}`
  const text = isScalar(node) ? String(node.value) : ''
  const variables = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([whole]) => whole)
  return [place, ...variables].join(' ')
}

function isBuiltIn({ chains }: Config, path: readonly Step[]): boolean {
  const [root, at, key] = path
  const chain = root === 'chains' ? chains[at as number] : undefined
  const known = chain === undefined ? undefined : CHAIN_TABLE[chain.chainId]
  // A chain that only borrows the id has nothing built in.
  return known !== undefined && known['genesis_hash'] === chain?.genesisHash && (key as string) in known
}

type Leaf = { readonly path: readonly Step[]; readonly value: unknown }

/** A list of the policy is replaced as a whole and shown as a whole, like any list of plain values. */
function leavesOf(value: unknown, path: readonly Step[]): Leaf[] {
  const isWhole =
    typeof value !== 'object' ||
    value === null ||
    value instanceof Secret ||
    (Array.isArray(value) && (path[0] === 'policy' || value.every(each => typeof each !== 'object')))
  if (isWhole) return [{ path, value }]
  return Array.isArray(value)
    ? value.flatMap((each: unknown, at) => leavesOf(each, [...path, at]))
    : Object.entries(value).flatMap(([key, each]: [string, unknown]) => leavesOf(each, [...path, key]))
}
