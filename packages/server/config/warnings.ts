/** Settings that are allowed but probably unintended: reported at start and by `assay doctor`, never refused. */
import { existsSync, statfsSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { ChainConfig, Config } from './config.ts'
import { join } from './faultLog.ts'

/** A record with its row in the log, its pool events and its share of the indexes; most are smaller. */
const RECORD_BYTES = 2048

/** Sentences that begin with the key; they contain no URL. */
export function configWarnings(config: Config): string[] {
  return [
    ...config.chains.flatMap((chain, at) => backendWarnings(chain, join(join('chains', at), 'endpoints'))),
    ...config.chains.flatMap((chain, at) => proofWarnings(chain, join(join('chains', at), 'proof'))),
    ...diskWarnings(config),
  ]
}

/** Endpoints that share one backend would confirm each other's errors. */
function backendWarnings({ endpoints }: ChainConfig, path: string): string[] {
  if (endpoints.length < 2) return []
  const backends = new Set(endpoints.map(({ url }) => backendOf(url.reveal())))
  if (backends.size > 1) return []
  const names = endpoints.map(({ name }) => name).join(', ')
  return [
    `${path}: ${names} share one backend, so they fail together and cannot confirm each other; add an endpoint of another provider`,
  ]
}

/** A block without a proof needs two endpoints that agree. */
function proofWarnings({ endpoints, proof }: ChainConfig, path: string): string[] {
  if (endpoints.length > 1 || (proof?.header !== 'opaque' && proof?.receipts !== 'none')) return []
  return [
    `${path}: with these settings one endpoint cannot prove a block, so the chain stays DEGRADED (NO_PROOF), its scores at 3 and its blocks without finality; add an endpoint of another provider`,
  ]
}

/** The address itself, or the last two labels of a name: providers put a chain or a transport before them. */
function backendOf(url: string): string {
  const { hostname } = new URL(url)
  return isIP(hostname) === 0 ? hostname.split('.').slice(-2).join('.') : hostname
}

function diskWarnings({ retention, store }: Config): string[] {
  let folder = dirname(store.path)
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const needed = retention.records * RECORD_BYTES
  if (needed <= bavail * bsize) return []
  return [
    `retention.records: ${retention.records} records are about ${gibibytes(needed)} GiB, ${gibibytes(bavail * bsize)} GiB are free; keep fewer records, or use a larger disk`,
  ]
}

const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1)
