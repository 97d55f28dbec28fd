/** Answers `eth_call` for the contracts of a planned market as of a block: tokens, feeds, factory, pairs and Multicall3. */
import { SELECTOR } from '../../packages/server/market/abi.ts'
import { MULTICALL3 } from '../../packages/server/market/multicall.ts'
import { addressAt, encodeAddress, encodeInt, uintAt } from '../../packages/server/market/abiWords.ts'
import type { Address, Hex } from '../../packages/server/ops/hex.ts'
import type { MadeBlock } from './blockMaker.ts'
import { DECIMALS, FEED_DECIMALS, type MarketPlan, type PairPlan } from './plan.ts'

type Reserves = readonly [bigint, bigint]
type Since = { readonly number: number; readonly reserves: Reserves }
/** Null reverts. */
type Answer = string | null
type Contract = (selector: string, words: Hex, number: number) => Answer

const AGGREGATE3 = '0x82ad56cb'
/** More than all pairs hold. */
const SUPPLY = 10n ** 36n
const WORD = 64
const SELECTOR_DIGITS = 10

export class Contracts {
  readonly #byAddress = new Map<Address, Contract>()
  readonly #past = new Map<Address, Since[]>()
  readonly #updatedAtS: number

  constructor(plan: MarketPlan, updatedAtS: number) {
    this.#updatedAtS = updatedAtS
    const { stables, routing, tail, pairs } = plan
    for (const token of [routing, ...tail, ...stables.map(each => each.token)])
      this.#byAddress.set(token, this.#token(token, pairs))
    for (const { feed, aggregator } of stables) this.#byAddress.set(feed, this.#feed(aggregator))
    this.#byAddress.set(plan.factory, factory(pairs))
    for (const pair of pairs) {
      this.#past.set(pair.address, [{ number: 0, reserves: pair.reserves }])
      this.#byAddress.set(pair.address, this.#pair(plan, pair))
    }
    this.#byAddress.set(MULTICALL3, (selector, words, number) =>
      selector === AGGREGATE3 ? this.#aggregate(words.slice(2), number) : null,
    )
  }

  /** Blocks are noted in their order. */
  note({ number, changed }: MadeBlock): void {
    for (const [pair, reserves] of changed) this.#past.get(pair)?.push({ number, reserves })
  }

  hasCode(address: string): boolean {
    return this.#byAddress.has(address.toLowerCase() as Address)
  }

  /** Null reverts. An address without code answers every call with no bytes. */
  call(to: string, data: string, number: number): Hex | null {
    const contract = this.#byAddress.get(to.toLowerCase() as Address)
    if (contract === undefined) return '0x'
    const answer = contract(data.slice(0, SELECTOR_DIGITS), `0x${data.slice(SELECTOR_DIGITS)}`, number)
    return answer === null ? null : `0x${answer}`
  }

  #token(token: Address, pairs: readonly PairPlan[]): Contract {
    const name = `T${token.slice(2, 8)}`
    const held = new Map(pairs.map(({ address, tokens }) => [address, tokens.indexOf(token)]))
    return (selector, words, number) => {
      switch (selector) {
        case SELECTOR['decimals()']:
          return encodeInt(BigInt(DECIMALS))
        case SELECTOR['totalSupply()']:
          return encodeInt(SUPPLY)
        case SELECTOR['symbol()']:
        case SELECTOR['name()']:
          return encodeText(name)
        case SELECTOR['balanceOf(address)']: {
          const holder = addressAt(words, 0)
          const side = held.get(holder) ?? -1
          return encodeInt(side < 0 ? 0n : (this.#reservesAt(holder, number)[side] as bigint))
        }
        default:
          return null
      }
    }
  }

  #feed(aggregator: Address): Contract {
    const updatedAt = BigInt(this.#updatedAtS)
    return selector => {
      switch (selector) {
        case SELECTOR['decimals()']:
          return encodeInt(BigInt(FEED_DECIMALS))
        case SELECTOR['aggregator()']:
          return encodeAddress(aggregator)
        case SELECTOR['latestRoundData()']:
          return [1n, 10n ** BigInt(FEED_DECIMALS), updatedAt, updatedAt, 1n].map(encodeInt).join('')
        default:
          return null
      }
    }
  }

  #pair({ factory: own }: MarketPlan, { address, tokens }: PairPlan): Contract {
    return (selector, _words, number) => {
      switch (selector) {
        case SELECTOR['token0()']:
          return encodeAddress(tokens[0])
        case SELECTOR['token1()']:
          return encodeAddress(tokens[1])
        case SELECTOR['factory()']:
          return encodeAddress(own)
        case SELECTOR['getReserves()']:
          return [...this.#reservesAt(address, number), BigInt(this.#updatedAtS)].map(encodeInt).join('')
        default:
          return null
      }
    }
  }

  #reservesAt(pair: Address, number: number): Reserves {
    const past = this.#past.get(pair) ?? []
    // Questions are about the newest blocks.
    return (past.findLast(since => since.number <= number) as Since).reserves
  }

  /** Each call may fail without failing the others. */
  #aggregate(digits: string, number: number): string {
    const countAt = (at: number) => Number.parseInt(digits.slice(at, at + WORD), 16)
    const list = 2 * countAt(0) + WORD
    const results = Array.from({ length: countAt(list - WORD) }, (_, index) => {
      const call = list + 2 * countAt(list + index * WORD)
      const to = `0x${digits.slice(call + 24, call + WORD)}`
      const bytes = call + 2 * countAt(call + 2 * WORD)
      const data = digits.slice(bytes + WORD, bytes + WORD + 2 * countAt(bytes))
      const answer = this.call(to, `0x${data}`, number)
      return encodeResult(answer !== null, (answer ?? '0x').slice(2))
    })
    let at = results.length * WORD
    const places = results.map(result => {
      const place = encodeInt(BigInt(at / 2))
      at += result.length
      return place
    })
    return [encodeInt(32n), encodeInt(BigInt(results.length)), ...places, ...results].join('')
  }
}

const factory =
  (pairs: readonly PairPlan[]): Contract =>
  (selector, words) => {
    if (selector !== SELECTOR['getPair(address,address)']) return null
    const asked = [uintAt(words, 0), uintAt(words, 1)]
    const found = pairs.find(({ tokens }) => tokens.every(token => asked.includes(BigInt(token))))
    return found === undefined ? encodeInt(0n) : encodeAddress(found.address)
  }

const padded = (digits: string): string => digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0')
const encodeBytes = (digits: string): string => encodeInt(BigInt(digits.length / 2)) + padded(digits)
const encodeText = (text: string): string => encodeInt(32n) + encodeBytes(Buffer.from(text).toString('hex'))
const encodeResult = (success: boolean, digits: string): string =>
  encodeInt(success ? 1n : 0n) + encodeInt(64n) + encodeBytes(digits)
