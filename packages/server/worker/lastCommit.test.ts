import { DEFAULT_POLICY } from '@assay/engine'
import { expect, test } from 'vitest'
import type { ChainConfig } from '../config/config.ts'
import { readLastCommit } from './lastCommit.ts'

const chain = {
  chainId: 56,
  blockTimeMs: 450,
  stables: [],
  routingAssets: [],
  deployments: [],
  finality: { kind: 'tag', tag: 'finalized' },
} as unknown as ChainConfig

test('S19: a damaged stored state stops its chain with a clear message, not with that of a parser', async () => {
  const damaged = {
    readCheckpoint: async () => ({ step: 7, tip: null, entities: [['chain', '{"tip":nul\ufffd']] as never }),
  }
  await expect(readLastCommit(damaged, chain, DEFAULT_POLICY)).rejects.toMatchObject({
    code: 'STORE_CORRUPT',
    message: expect.stringMatching(
      /^the stored state of chain 56 cannot be read \(table entity\): `assay db check`/,
    ),
  })
})
