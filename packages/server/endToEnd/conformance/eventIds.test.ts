/** R-stream-8: the id of an event resumes the very request it came from, whatever its chains and filters. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { address, health, idOf, tokenUpsert } from '../../store/testing/drafts.ts'
import { ask } from '../testing/answer.ts'
import { opened } from '../testing/handshake.ts'
import { openTestApi, type TestApi } from '../testing/testApi.ts'
import { until } from '../testing/until.ts'

const TOKENS = [address(7), address(8), address(9)] as const

let api: TestApi
let key: string
beforeAll(async () => {
  api = await openTestApi()
  key = await api.key()
  for (let step = 1; step <= 6; step++)
    for (const chainId of [1, 2])
      await api.commit(chainId, [
        health(chainId, 'HEALTHY'),
        ...TOKENS.map((token, at) =>
          tokenUpsert({ chainId, recordId: `${chainId}-${step}-${at}` }, token, `1.${step}`),
        ),
      ])
})
afterAll(() => api?.close())

type Event = { readonly id: string; readonly type: string; readonly sequence: number }

/** Events of a request until there are so many of them, or a reset. */
async function eventsOf(query: string, count: number, lastEventId?: string): Promise<Event[]> {
  const asking = request(`${api.url}/v1/stream/sse?${query}`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  })
  asking.end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  answer.on('data', part => {
    text += String(part)
  })
  const events = () =>
    [...text.matchAll(/^id(?:: (?<id>\S+))?\nevent: (?<type>\S+)\ndata: (?<data>.*)\n\n/gm)].map(
      ({ groups: { id = '', type = '', data = '' } = {} }) => ({
        id,
        type,
        sequence: (JSON.parse(data) as { stream_sequence?: number }).stream_sequence ?? 0,
      }),
    )
  await until('events', () => events().length >= count || events().at(-1)?.type === 'RESET_REQUIRED')
  answer.destroy()
  return events().slice(0, count)
}

/** The sequences that a filter passes, straight from the store. */
const wanted = async (chains: readonly number[], tokens: readonly string[]): Promise<number[]> =>
  (await api.store.readLog(0, 1000, null))
    .filter(({ chainId }) => chains.includes(chainId))
    .filter(
      ({ tokenIds }) =>
        tokens.length === 0 || tokenIds.length === 0 || tokenIds.some(id => tokens.includes(id)),
    )
    .map(({ sequence }) => sequence)

describe.each([
  ['several chains', 'chain_ids=1,2', [1, 2], []],
  ['one token', `chain_ids=1&token_ids=${idOf(TOKENS[1])}`, [1], [idOf(TOKENS[1])]],
  [
    'tokens of several chains',
    `chain_ids=1,2&token_ids=${idOf(TOKENS[0])},${idOf(TOKENS[2])}`,
    [1, 2],
    [idOf(TOKENS[0]), idOf(TOKENS[2])],
  ],
  ['one whole chain', 'chain_ids=2', [2], []],
] as const)('of %s', (_, query, chains, tokens) => {
  /** Its first id: live, as nobody has one before. */
  const firstId = async (): Promise<Event> => {
    const listening = eventsOf(query, 1)
    let isHeard = false
    const stop = () => {
      isHeard = true
    }
    listening.then(stop, stop)
    while (!isHeard) {
      await api.commit(1, [health(1, 'HEALTHY')])
      await api.commit(2, [health(2, 'HEALTHY')])
      await new Promise(setImmediate)
    }
    return (await listening)[0] as Event
  }

  it('resumes after it, without a gap or a repetition', async () => {
    const first = await firstId()
    for (const chainId of [1, 2])
      await api.commit(
        chainId,
        TOKENS.map((token, at) => tokenUpsert({ chainId, recordId: `${chainId}-x-${at}` }, token, '2')),
      )
    const all = (await wanted(chains, tokens)).filter(each => each > first.sequence)
    const heard = await eventsOf(query, all.length, first.id)
    expect(heard.map(({ sequence }) => sequence)).toEqual(all)
    const middle = heard[Math.floor(heard.length / 2)] as Event
    const after = all.filter(each => each > middle.sequence)
    expect((await eventsOf(query, after.length, middle.id)).map(({ sequence }) => sequence)).toEqual(after)
    // As a parameter too, for those who cannot set the header.
    const asked = await eventsOf(`${query}&cursor=${middle.id}`, after.length)
    expect(asked.map(({ sequence }) => sequence)).toEqual(after)
  })

  it('is FILTER_MISMATCH with any other request', async () => {
    const { id } = await firstId()
    for (const other of ['chain_ids=1', 'chain_ids=1,2', `chain_ids=1,2&pool_ids=${idOf(TOKENS[0])}`]) {
      if (other === query) continue
      const [event] = await eventsOf(other, 1, id)
      expect([other, event?.type]).toEqual([other, 'RESET_REQUIRED'])
    }
  })
})

it('the WebSocket accepts no id of a filter: its cursors are of one whole chain', async () => {
  const listening = eventsOf('chain_ids=1,2', 1)
  const { id } = (await until('an event', async () => {
    await api.commit(1, [health(1, 'HEALTHY')])
    return Promise.race([listening, new Promise<null>(resolve => setTimeout(resolve, 20, null))])
  }).then(([event]) => event)) as Event
  const raw = await opened(api.url, { headers: { authorization: `Bearer ${key}` } })
  raw.send({ filter: { chain_ids: [1, 2], pool_ids: [], token_ids: [] }, resume_cursor: id })
  expect(await raw.untilClosed()).toEqual({ code: 1000, reason: 'FILTER_MISMATCH' })
})

it('an unserved chain is 404, a malformed one 400', async () => {
  const statusOf = async (query: string) => (await ask(`${api.url}/v1/stream/sse?${query}`, { key })).status
  expect(await statusOf('chain_ids=4')).toBe(404)
  expect(await statusOf('chain_ids=1,4')).toBe(404)
  for (const query of ['', 'chain_ids=', 'chain_ids=x', 'chain_ids=4,1', 'chain_ids=4&pool_ids=x'])
    expect([query, await statusOf(query)]).toEqual([query, 400])
})
