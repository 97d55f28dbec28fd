/** Arbitrary text in place of a node's URL gives an address, or a refusal that does not repeat it. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Secret } from '../../ops/secret.ts'
import { runs, SECRET, survive, text } from '../../ops/testing/hostile.ts'
import { parseAddress } from './address.ts'
import { isFeedError } from '../feedError.ts'

const isOwn = (failure: unknown) => isFeedError(failure, 'ENDPOINT_ADDRESS')

const part = fc.oneof(
  text(20),
  fc.constantFrom('%ff', '%c3%28', '%', '%2', '@', ':', SECRET, '::1', '[', '?', '#'),
)
const url = fc
  .tuple(
    fc.constantFrom('http://', 'https://', 'ws://', 'wss://', 'file://', 'javascript:', 'HTTP:\\\\', ''),
    fc.constantFrom('', `${SECRET}@`, `user:${SECRET}@`, `%ff:%fe@`),
    fc.constantFrom('node.example', '127.0.0.1:8545', '[::1]:1', 'x:99999', '', 'münchen.example'),
    fc.array(part, { maxLength: 4 }),
    fc.constantFrom('', `?key=${SECRET}`, '?%ff=%ff', `#${SECRET}`),
  )
  .map(([scheme, user, host, path, rest]) => `${scheme}${user}${host}/${path.join('/')}${rest}`)

it('a URL is an address or is refused, and its secret stays inside', () => {
  let understood = 0
  fc.assert(
    fc.property(fc.oneof(url, text()), each => {
      const address = survive(() => parseAddress('own', new Secret(each)), isOwn)
      if (address === null) return
      understood++
      expect(JSON.stringify(address)).not.toContain(SECRET)
      // `fetch` names a URL that has a user in it.
      if (address.kind === 'http') expect(new URL(address.dial()).username).toBe('')
      // Echoed whole, or by any of its parts.
      const said = survive(() =>
        address.redact(`cannot POST ${each}, ${SECRET}, ${address.dial()}`),
      ) as string
      if (new URL(each).href.includes(SECRET)) expect(said).not.toContain(SECRET)
      expect(said.length).toBeLessThanOrEqual(200)
    }),
    runs(1000),
  )
  expect(understood).toBeGreaterThan(100)
})

it.each(['a', 'a.', '%', 'a:', 'a:/', ' ', '\0', 'http://'])('a message of 16 MiB of %j is fast', letter => {
  const address = parseAddress('own', new Secret(`https://node.example/${SECRET}`))
  const message = letter.repeat(2 ** 24 / letter.length)
  expect((survive(() => address.redact(message)) as string).length).toBeLessThanOrEqual(200)
})
