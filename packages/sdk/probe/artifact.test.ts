import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import probe from './Probe.json' with { type: 'json' }

it('is the source its code was compiled from', () => {
  const source = readFileSync(new URL(probe.source, import.meta.url))
  expect(createHash('sha256').update(source).digest('hex')).toBe(probe.sourceSha256)
})
