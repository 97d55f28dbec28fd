/**
 * A pool that is a contract of its own: checks its tokens and its factory, as reported by the pool and by the
 * factory.
 */
import type { Hop } from '../../wire/route.ts'
import type { Findings } from '../findings.ts'
import { type Node, word } from '../node.ts'

const FACTORY = '0xc45a0155'
const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'

/** Token0 has the lower address. */
export const lowerIsX = (hop: Hop): 0 | 1 => (hop.from < hop.to ? 0 : 1)

/** `look` asks the factory for the pool of the pair: a selector, and the words after the tokens. */
export async function checkContract(
  findings: Findings,
  node: Node,
  hop: Hop,
  path: string,
  blockHash: string,
  look: () => Promise<readonly [selector: string, rest: string]>,
): Promise<string> {
  const { pool_address: pool, from, to } = hop
  const [low, high] = from < to ? [from, to] : [to, from]
  const call = (data: string) => node.call(pool, data, blockHash)
  findings.same(`${path}.${from < to ? 'from' : 'to'}`, low, (await call(TOKEN0)).address(0), [
    `${path}.pool_address`,
  ])
  findings.same(`${path}.${from < to ? 'to' : 'from'}`, high, (await call(TOKEN1)).address(0), [
    `${path}.pool_address`,
  ])
  const factory = (await call(FACTORY)).address(0)
  const [selector, rest] = await look()
  const listed = (await node.call(factory, `${selector}${word(low)}${word(high)}${rest}`, blockHash)).address(
    0,
  )
  findings.same(`${path}.pool_address`, pool, listed, [`factory ${factory}`])
  return factory
}
