import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import probe from './Probe.json' with { type: 'json' }

it('is the source its code was compiled from', () => {
  const sources = { [probe.source]: probe.sourceSha256, ...probe.imports }
  for (const [file, hash] of Object.entries(sources)) {
    const source = readFileSync(new URL(file, import.meta.url))
    expect(createHash('sha256').update(source).digest('hex'), file).toBe(hash)
  }
})
