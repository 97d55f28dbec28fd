/** The key that `npm start` creates for its own operator, readable by them alone. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { issueKeyIn, type loadConfig } from '@assay/server/config'
import { Failure } from '../exit.ts'

/** The permission bits of a mode for anyone but the owner. Windows has none. */
const OTHERS = process.platform === 'win32' ? 0 : 0o077

/** The key of the last run if there is one; refused if others may have read it. */
export async function keyIn(file: string, config: ReturnType<typeof loadConfig>): Promise<string> {
  if (existsSync(file)) {
    if ((statSync(file).mode & OTHERS) !== 0)
      throw new Failure(
        `${file} holds an admin key and others may read it: revoke the key (\`assay keys revoke\`) and delete the file; the next start creates another`,
      )
    return readFileSync(file, 'utf8').trim()
  }
  const { key } = await issueKeyIn(config, {
    name: 'local world',
    consumer: 'local',
    scopes: ['read', 'stream', 'admin'],
  })
  writeFileSync(file, `${key}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
  return key
}
