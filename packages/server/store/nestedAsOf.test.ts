import { expect, test } from 'vitest'
import { unsealed } from './envelope.ts'
import { address, tokenUpsert } from './testing/drafts.ts'

test('quotes within a quote say which commit they stand on, as the quote itself does', () => {
  const asset = (routing_assets: readonly object[] = []) => ({ routing_assets, as_of: { block_number: 1 } })
  const draft = tokenUpsert({ chainId: 1, recordId: 'a' }, address('token'), '1')
  const quote = JSON.stringify({
    note: { as_of: { block_number: 3 } },
    routing_assets: [asset(), asset([asset()])],
    as_of: { block_number: 2 },
  })
  const sealed = unsealed({ ...draft, quote }).seal(77, null)
  const whole = { stream_sequence: 77, block_number: 1 }
  expect(JSON.parse(sealed.quote ?? '')).toEqual({
    note: { as_of: { block_number: 3 } },
    routing_assets: [
      { routing_assets: [], as_of: whole },
      { routing_assets: [{ routing_assets: [], as_of: whole }], as_of: whole },
    ],
    as_of: { stream_sequence: 77, block_number: 2 },
  })
})
