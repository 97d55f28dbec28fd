/**
 * Checks before a start: faults that waiting cannot fix are refused, all at once. An endpoint that is merely down is
 * not: the service starts, reports that in its health, and continues when the node is back.
 */
import type { Config } from '../config/config.ts'
import { type ChainReport, diagnose, type DoctorOptions, type EndpointReport } from './doctor.ts'

/** Short, because a start waits for it. */
const DEADLINE_MS = 3000

export class PreflightError extends Error {
  override readonly name = 'PreflightError'
}

/** Returns warnings for the operator; throws on faults that prevent a start. */
export async function preflight(config: Config, options: DoctorOptions = {}): Promise<string[]> {
  const { chains, warnings } = await diagnose(config, {
    deadlineMs: DEADLINE_MS,
    ...options,
    scope: 'identity',
  })
  const refused = chains.flatMap(chain => [
    ...chain.faults,
    ...(chain.endpoints.every(isWrong) ? chain.endpoints.flatMap(sentencesOf) : []),
  ])
  if (refused.length > 0)
    throw new PreflightError(
      `the configuration does not fit the chains:\n${refused.map(each => `  ${each}`).join('\n')}`,
    )
  return [...warnings, ...chains.flatMap(awayOf)]
}

/** Another chain, or no JSON-RPC at all: waiting will not change it. */
const isWrong = ({ checks }: EndpointReport): boolean =>
  checks.some(
    ({ name, status, value }) =>
      status === 'fail' && (name === 'chain_id' || name === 'genesis' || /JSON/.test(value)),
  )

const awayOf = (chain: ChainReport): string[] => chain.endpoints.flatMap(sentencesOf)

const sentencesOf = ({ name, key, checks }: EndpointReport): string[] =>
  checks
    .filter(({ name: check, status }) => status === 'fail' || (check === 'proof' && status === 'warn'))
    .map(({ value, fix }) => `${key} (${name}): ${value}; ${fix}`)
