/**
 * Before a start: what cannot get better by waiting is refused, all at once. An endpoint that is merely away is not;
 * the service starts, says so in its health, and goes on when the node is back.
 */
import type { Config } from '../ops/config.ts'
import { type ChainReport, diagnose, type DoctorOptions, type EndpointReport } from './doctor.ts'

/** Short: a start waits for it. */
const DEADLINE_MS = 3000

export class PreflightError extends Error {
  override readonly name = 'PreflightError'
}

/** What to tell the operator and go on; throws what the service cannot be started with. */
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

/** Of another chain, or no JSON-RPC at all: it will be the same in a minute. */
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
