/**
 * `assay start`, which is `npm start`: serves the chains of `assay.yaml` or of the environment, otherwise the local
 * world. The world is loaded only when it is needed, since the package `assay-server` does not contain it.
 */
import type { StartOptions } from './startLocal.ts'
import { resolve } from 'node:path'
import { EXIT, Failure } from '../exit.ts'
import { refuseTakenPort, refuseUnwritable } from './ground.ts'
import { realConfig, startReal } from './startReal.ts'

export async function startAll(options: StartOptions): Promise<void> {
  const folder = resolve(options.data)
  // Check the folder first: an unwritable one would fail only after the world was created.
  refuseUnwritable(folder)
  const real = realConfig(folder, options.port)
  if (real === null) return (await import('./startLocal.ts')).startLocal(folder, options)
  if (options.profile !== undefined)
    throw new Failure(
      `--profile ${options.profile} is for the local world, but assay.yaml or ASSAY_RPC_<chain_id> selects real chains: use only one of the two`,
      EXIT.misused,
    )
  await refuseTakenPort(real.config.listen.host, real.config.listen.port)
  return startReal(real, options)
}
