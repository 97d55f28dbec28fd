/** Constant-product pairs: one per pair and factory, whose state is two reserves. */
import { type AmmEvent, ms, type NewPool, type V2State } from '@assay/engine'
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { Address } from '../../ops/hex.ts'
import { SELECTOR } from '../abi.ts'
import { create2, digitsOf } from '../create2.ts'
import type { ConfigOf, MarketFamily, Pair, Reader } from '../family.ts'
import { uintIn } from '../logWords.ts'
import { onePerPair } from '../onePerPair.ts'
import { answered, askFactory } from '../reading.ts'
import { uintAt, wordCount } from '../abiWords.ts'

type Config = ConfigOf<'amm_v2'>

export const TOPIC = {
  created: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  mint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
  burn: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
  swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
} as const

export const v2: MarketFamily<'amm_v2'> = {
  signatures: {
    [TOPIC.created]: 'PairCreated(address,address,address,uint256)',
    [TOPIC.sync]: 'Sync(uint112,uint112)',
    [TOPIC.mint]: 'Mint(address,uint256,uint256)',
    [TOPIC.burn]: 'Burn(address,uint256,uint256,address)',
    [TOPIC.swap]: 'Swap(address,uint256,uint256,uint256,uint256,address)',
  },
  creations: [TOPIC.created],

  logs: new Map<string, (log: LogEntry) => AmmEvent>([
    [TOPIC.sync, log => ({ kind: 'SYNC', reserve0: uintIn(log, 0), reserve1: uintIn(log, 1) })],
    [
      TOPIC.swap,
      log => ({
        kind: 'SWAP',
        amount0In: uintIn(log, 0),
        amount1In: uintIn(log, 1),
        amount0Out: uintIn(log, 2),
        amount1Out: uintIn(log, 3),
      }),
    ],
    [TOPIC.mint, log => ({ kind: 'MINT', amount0: uintIn(log, 0), amount1: uintIn(log, 1) })],
    [TOPIC.burn, log => ({ kind: 'BURN', amount0: uintIn(log, 0), amount1: uintIn(log, 1) })],
  ]),

  holder: null,

  ...onePerPair<'amm_v2'>({ created: TOPIC.created, derived: pairAddress, born: bornAt, lookUp }),

  async load(reader, _deployment, { address }) {
    const { state, changedMs } = await readPair(reader, address)
    return { state, ticks: null, tradedByMs: changedMs }
  },

  readState: async (reader, _deployment, pool) => (await readPair(reader, pool)).state,
}

/** The salt is packed. */
function pairAddress(deployment: Config, [token0, token1]: Pair): Address | null {
  return create2(deployment.factoryAddress, deployment.initCodeHash, digitsOf(token0), digitsOf(token1))
}

async function lookUp(reader: Reader, deployment: Config, pair: Pair): Promise<NewPool | null> {
  const { factoryAddress } = deployment
  const pool = await askFactory(reader, factoryAddress, SELECTOR['getPair(address,address)'], pair)
  if (pool === null || (pairAddress(deployment, pair) ?? pool) !== pool) return null
  return bornAt(deployment, pair, pool)
}

function bornAt({ deploymentId, fee }: Config, [token0, token1]: Pair, address: Address): NewPool {
  const [numerator, denominator] = [BigInt(fee.numerator), BigInt(fee.denominator)]
  return { address, deploymentId, token0, token1, fee: { family: 'amm_v2', numerator, denominator } }
}

/** Includes the time of its last change in whole seconds, which is not before its last trade. */
async function readPair(reader: Reader, pool: Address) {
  const reserves = await answered(reader, pool, SELECTOR['getReserves()'])
  const state: V2State = {
    family: 'amm_v2',
    reserve0: uintAt(reserves, 0),
    reserve1: uintAt(reserves, 1),
  }
  const changedMs = wordCount(reserves) < 3 ? null : ms(Number(uintAt(reserves, 2)) * 1000)
  return { state, changedMs }
}
