import { RECORD_TYPES } from '@assay/sdk/wire'
import { expect, it } from 'vitest'
import { asyncApiDocument } from './document.ts'
import { complaintsOf } from '../testing/redocly.ts'

it('passes the linter with every recommended rule and not one warning', () => {
  expect(complaintsOf(asyncApiDocument())).toBe('')
}, 120_000)

it('names every type of record, and has no dangling reference', () => {
  const document = asyncApiDocument() as {
    channels: Record<string, { messages: object }>
    components: Record<string, object>
  }
  for (const { messages } of Object.values(document.channels))
    for (const type of [...RECORD_TYPES, 'RESET_REQUIRED']) expect(Object.keys(messages)).toContain(type)
  const text = JSON.stringify(document)
  for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let at: unknown = document
    for (const key of (ref as string).split('/')) at = (at as Record<string, unknown>)[key]
    expect(at, ref as string).toBeTypeOf('object')
  }
})

it('describes every message, channel, operation and parameter', () => {
  type Said = { readonly description?: string; readonly summary?: string }
  const { components, channels, operations } = asyncApiDocument() as unknown as {
    components: { messages: Record<string, Said> }
    channels: Record<string, Said & { bindings?: { ws: { query: { properties: Record<string, Said> } } } }>
    operations: Record<string, Said>
  }
  const all = {
    ...components.messages,
    ...channels,
    ...operations,
    ...channels['events']?.bindings?.ws.query.properties,
  }
  expect(Object.keys(all).length).toBeGreaterThan(14)
  const isSaid = ({ description, summary }: Said) => /.{10}\.$/.test(description ?? summary ?? '')
  expect(Object.keys(all).filter(name => !isSaid(all[name] ?? {}))).toEqual([])
})
