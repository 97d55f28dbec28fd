/** The key that `npm start` makes for its own operator, kept readable by them alone. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { issueKeyIn, type loadConfig } from '@assay/server/config'

/** The key of the last run if there is one. */
export async function keyIn(file: string, config: ReturnType<typeof loadConfig>): Promise<string> {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const { key } = await issueKeyIn(config, {
    name: 'local world',
    consumer: 'local',
    scopes: ['read', 'stream', 'admin'],
  })
  writeFileSync(file, `${key}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
  return key
}
