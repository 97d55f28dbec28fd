/** An attack on a local node with the whole service: played through once without, to know what it needs, and then for real. */
import type { Attack, Look } from '@assay/world'
import { startTestChain } from '../testChain.ts'
import { ChainStage } from './chainStage.ts'
import { planOf } from './plan.ts'
import { Rehearsal } from './rehearsal.ts'
import { TokenActs } from './tokenActs.ts'

/** What a world and a service need to be there, and what a block of an attack takes, in seconds of this machine. */
const START_S = 4
const A_BLOCK_S = 0.02
/** What the node keeps: a look-back asks for states and logs of the last 35 minutes. */
const KEPT_BLOCKS = 600

export async function playOnChain(play: Attack['play']): Promise<readonly Look[]> {
  const rehearsal = new Rehearsal()
  await play(rehearsal)
  const needsS = Math.ceil(START_S + rehearsal.blocks * A_BLOCK_S)
  const time = { nowS: Math.floor(Date.now() / 1000) - rehearsal.spanS + needsS - 30 }
  const chain = await startTestChain(planOf(rehearsal), {
    clock: { hurry: 1, nowS: () => time.nowS },
    keptBlocks: KEPT_BLOCKS,
  })
  const stage = new ChainStage(chain, time, new TokenActs(chain, rehearsal.tokens), rehearsal.looks)
  try {
    await play(stage)
    return stage.looks
  } finally {
    await stage.close()
  }
}
