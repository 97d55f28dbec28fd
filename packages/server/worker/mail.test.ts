import { afterEach, expect, test } from 'vitest'
import type { Answer, Letter, MailStore } from '../store/cluster.ts'
import { ChainDown } from './chainService.ts'
import { Correspondence, PostedChain, PostOffice } from './mail.ts'

/** Letters in memory, with the moments in between under the test's control. */
class Pigeonholes implements MailStore {
  readonly letters: Letter[] = []
  readonly answers: Answer[] = []
  onPost: (letter: Letter) => Promise<void> = async () => undefined

  async post({ chainId, method, args }: Omit<Letter, 'id'>): Promise<number> {
    const letter = { id: this.letters.length + 1, chainId, method, args }
    this.letters.push(letter)
    await this.onPost(letter)
    return letter.id
  }

  async collect(): Promise<readonly Letter[]> {
    return this.letters.splice(0)
  }

  async answer(answer: Answer): Promise<void> {
    this.answers.push(answer)
  }

  async receive(): Promise<readonly Answer[]> {
    return this.answers.splice(0)
  }

  async discard(): Promise<void> {
    return undefined
  }
}

let letters: Correspondence
afterEach(() => letters.close())

test('an answer that is there before its question knows its number is not lost', async () => {
  const mail = new Pigeonholes()
  letters = new Correspondence(mail, 'api')
  mail.onPost = async ({ id }) => {
    await mail.answer({ id, result: '{"state":"EVALUATED"}', failure: null })
    letters.wake()
    // Until it has been received, while the question is still on its way back.
    while (mail.answers.length > 0) await new Promise(setImmediate)
  }
  expect(await new PostedChain(1, letters).enrol('0x1')).toEqual({ state: 'EVALUATED' })
})

test('a question reaches the writer with its arguments, and its answer or failure whoever asked', async () => {
  const mail = new Pigeonholes()
  letters = new Correspondence(mail, 'api')
  const asked: unknown[] = []
  const office = new PostOffice({
    mail,
    seats: () => [{ chainId: 1, generation: 1 }],
    async answer(chainId, method, args) {
      asked.push([chainId, method, ...args])
      if (method === 'poolQuote') throw new ChainDown('chain 1 is starting')
      if (method === 'unenrol') throw new Error('nonsense')
      return method === 'setPaused' ? undefined : { outcome: 'not_enrolled' }
    },
  })
  mail.onPost = async () => office.wake()
  const chain = new PostedChain(1, letters)
  expect(await chain.tokenQuote('0x1', null, true)).toEqual({ outcome: 'not_enrolled' })
  expect(await chain.setPaused(true)).toBeNull()
  await expect(chain.poolQuote('0x2', 100)).rejects.toThrow(ChainDown)
  await expect(chain.unenrol('0x3')).rejects.toThrow('nonsense')
  expect(asked).toEqual([
    [1, 'tokenQuote', '0x1', null, true, ''],
    [1, 'setPaused', true],
    [1, 'poolQuote', '0x2', 100, null, ''],
    [1, 'unenrol', '0x3'],
  ])
  await office.close()
})

test('who still waits when the process stops is told that nobody will answer', async () => {
  letters = new Correspondence(new Pigeonholes(), 'api')
  const asking = letters.ask(1, 'enrol', ['0x1'])
  await new Promise(setImmediate)
  letters.close()
  await expect(asking).rejects.toThrow(ChainDown)
})
