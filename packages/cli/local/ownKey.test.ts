import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentConfig } from '@assay/server/config'
import { afterAll, expect, it } from 'vitest'
import { keyIn } from './ownKey.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('O5: the key file is readable by its owner only, and one that others could read is refused', async () => {
  const config = environmentConfig({ ASSAY_RPC_1: 'http://127.0.0.1:1' }, { folder })
  const file = join(folder, 'key')
  const key = await keyIn(file, config)
  expect(statSync(file).mode & 0o077).toBe(0)
  expect(await keyIn(file, config)).toBe(key)
  chmodSync(file, 0o640)
  const refusal = await keyIn(file, config).catch((failure: unknown) => failure)
  expect(String(refusal)).toContain(`${file} holds an admin key and others may read it`)
  expect(String(refusal)).not.toContain(key)
})
