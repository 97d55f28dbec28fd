/**
 * The depth of other markets, from the configuration and from separate files. A file has the keys of a static source
 * and may be rewritten at any time: it is reread while the service runs.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CoverageAsset, CoverageSource } from './config.ts'
import { join, Shape } from './shape.ts'

/** Some ten thousand assets: a larger file is a mistake. */
const MAX_BYTES = 4 * 1024 * 1024
/** September 2001: an earlier time is in seconds. */
const LEAST_TIME_MS = 1_000_000_000_000

const KEYS = ['as_of_ms', 'assets'] as const

/** Paths are relative to the configuration's folder. */
export function coverageFrom(shape: Shape, value: unknown, folder: string): CoverageSource[] {
  const { sources } = shape.mapping(value, 'coverage', ['sources'])
  return shape.list(sources, 'coverage.sources').map((each, n) => {
    const path = join('coverage.sources', n)
    const source = shape.mapping(each, path, ['kind', 'path', ...KEYS])
    const kind = shape.choice(source['kind'], join(path, 'kind'), ['static', 'file'])
    // For an unknown kind, the expected keys are unknown too.
    if (source['kind'] !== kind) return { kind: 'static', assets: [] }
    const alien = (kind === 'file' ? KEYS : ['path']).find(key => source[key] !== undefined)
    if (alien !== undefined)
      shape.fault(join(path, alien), source[alien], `nothing: a source of kind ${kind} has none`)
    if (kind === 'static') return { kind, assets: assetsFrom(shape, source, path) }
    const file = shape.text(source['path'], join(path, 'path'), 'the path of a JSON file', /\S/)
    return { kind, path: resolve(folder, file) }
  })
}

/** Throws an Error that lists all faults of the file. */
export async function readCoverageFile(path: string): Promise<CoverageAsset[]> {
  const text = await readFile(path, 'utf8')
  if (text.length > MAX_BYTES) throw new Error(`${path} is longer than ${MAX_BYTES} bytes`)
  const shape = new Shape()
  const assets = assetsFrom(shape, shape.mapping(JSON.parse(text), '', KEYS), '')
  if (shape.faults.length === 0) return assets
  const faults = shape.faults.map(
    ({ path: key, received, expected }) => `${key}: received ${received}, expected ${expected}`,
  )
  throw new Error(`${path}: ${faults.join('; ')}`)
}

function assetsFrom(shape: Shape, source: Readonly<Record<string, unknown>>, path: string): CoverageAsset[] {
  const asOfMs = shape.integer(source['as_of_ms'], join(path, 'as_of_ms'), [
    LEAST_TIME_MS,
    Number.MAX_SAFE_INTEGER,
    'Unix milliseconds',
  ])
  return shape.list(source['assets'], join(path, 'assets')).map((asset, n) => {
    const own = join(join(path, 'assets'), n)
    const fields = shape.mapping(asset, own, ['chain_id', 'token_address', 'external_depth_usd'])
    return {
      chainId: shape.integer(fields['chain_id'], join(own, 'chain_id'), [1, Number.MAX_SAFE_INTEGER]),
      tokenAddress: shape.address(fields['token_address'], join(own, 'token_address')),
      externalDepthUsd: BigInt(
        shape.text(
          fields['external_depth_usd'],
          join(own, 'external_depth_usd'),
          'whole dollars as a string of digits',
          /^[0-9]{1,18}$/,
        ) || '0',
      ),
      asOfMs,
    }
  })
}
