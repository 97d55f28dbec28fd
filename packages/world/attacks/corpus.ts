/** Every attack, in the order of display. docs/TRUTH.md lists what is not covered yet. */
import type { Attack } from './attack.ts'
import { aroundOneTrade } from './liquidity/aroundOneTrade.ts'
import { burnAndBack } from './liquidity/burnAndBack.ts'
import { dustPools } from './liquidity/dustPools.ts'
import { edgeParking } from './liquidity/edgeParking.ts'
import { everySecondBlock } from './liquidity/everySecondBlock.ts'
import { everySecondVisit } from './liquidity/everySecondVisit.ts'
import { imbalance } from './liquidity/imbalance.ts'
import { lateLiquidity } from './liquidity/lateLiquidity.ts'
import { migration } from './liquidity/migration.ts'
import { migrationGame } from './liquidity/migrationGame.ts'
import { migrationHop } from './liquidity/migrationHop.ts'
import { oneSided } from './liquidity/oneSided.ts'
import { recreated } from './liquidity/recreated.ts'
import { rented } from './liquidity/rented.ts'
import { rug } from './liquidity/rug.ts'
import { tickBomb } from './liquidity/tickBomb.ts'
import { youngPool } from './liquidity/youngPool.ts'
import { youngPoolSeen } from './liquidity/youngPoolSeen.ts'
import { alternation } from './price/alternation.ts'
import { concentrated } from './price/concentrated.ts'
import { donation } from './price/donation.ts'
import { flash } from './price/flash.ts'
import { heldBack } from './price/heldBack.ts'
import { heldBeforeAsked } from './price/heldBeforeAsked.ts'
import { heldInOne } from './price/heldInOne.ts'
import { heldInTwo } from './price/heldInTwo.ts'
import { hourWalk } from './price/hourWalk.ts'
import { idleForYears } from './price/idleForYears.ts'
import { lastWord } from './price/lastWord.ts'
import { longWalk } from './price/longWalk.ts'
import { oneBlock } from './price/oneBlock.ts'
import { oneDollarTrade } from './price/oneDollarTrade.ts'
import { parkedAtBlockEnds } from './price/parkedAtBlockEnds.ts'
import { pushedBeforeAsked } from './price/pushedBeforeAsked.ts'
import { pushedTwiceBeforeAsked } from './price/pushedTwiceBeforeAsked.ts'
import { sandwich } from './price/sandwich.ts'
import { slowWalk } from './price/slowWalk.ts'
import { underThresholds } from './price/underThresholds.ts'
import { washTrading } from './price/washTrading.ts'
import { honeypot } from './selling/honeypot.ts'
import { ownersTiers } from './selling/ownersTiers.ts'
import { rebase } from './selling/rebase.ts'
import { sellTax } from './selling/sellTax.ts'
import { agreeing } from './votes/agreeing.ts'
import { boughtMajority } from './votes/boughtMajority.ts'
import { dissent } from './votes/dissent.ts'
import { feeTiers } from './votes/feeTiers.ts'
import { flicker } from './votes/flicker.ts'
import { mountain } from './votes/mountain.ts'
import { stray } from './votes/stray.ts'
import { strayInAndOut } from './votes/strayInAndOut.ts'
import { sybils } from './votes/sybils.ts'
import { thinAnchorRoute } from './votes/thinAnchorRoute.ts'
import { twoCamps } from './votes/twoCamps.ts'
import { absurdDecimals } from './assets/absurdDecimals.ts'
import { coarse } from './assets/coarse.ts'
import { decimalsChange } from './assets/decimalsChange.ts'
import { deepDepeg } from './assets/deepDepeg.ts'
import { depegFollowed } from './assets/depegFollowed.ts'
import { depegTiming } from './assets/depegTiming.ts'
import { extremePrices } from './assets/extremePrices.ts'
import { loneAnchor } from './assets/loneAnchor.ts'
import { stableSays } from './assets/stableSays.ts'
import { staleFeed } from './assets/staleFeed.ts'
import { twoAnchors } from './assets/twoAnchors.ts'
import { blockTimes } from './chain/blockTimes.ts'
import { finalityStall } from './chain/finalityStall.ts'
import { gap } from './chain/gap.ts'
import { lookAlike } from './chain/lookAlike.ts'
import { orphanedEvidence } from './chain/orphanedEvidence.ts'
import { reorgGame } from './chain/reorgGame.ts'
import { sameSecond } from './chain/sameSecond.ts'

export const ATTACKS: readonly Attack[] = [
  aroundOneTrade,
  burnAndBack,
  dustPools,
  edgeParking,
  everySecondBlock,
  everySecondVisit,
  imbalance,
  lateLiquidity,
  migration,
  migrationGame,
  migrationHop,
  ...oneSided,
  recreated,
  rented,
  rug,
  tickBomb,
  youngPool,
  youngPoolSeen,
  alternation,
  concentrated,
  donation,
  flash,
  heldBack,
  ...heldBeforeAsked,
  heldInOne,
  heldInTwo,
  hourWalk,
  idleForYears,
  lastWord,
  longWalk,
  oneBlock,
  oneDollarTrade,
  parkedAtBlockEnds,
  pushedBeforeAsked,
  pushedTwiceBeforeAsked,
  sandwich,
  slowWalk,
  ...underThresholds,
  washTrading,
  honeypot,
  ownersTiers,
  rebase,
  sellTax,
  ...agreeing,
  boughtMajority,
  dissent,
  feeTiers,
  flicker,
  mountain,
  ...stray,
  ...strayInAndOut,
  sybils,
  thinAnchorRoute,
  twoCamps,
  ...absurdDecimals,
  ...coarse,
  decimalsChange,
  deepDepeg,
  depegFollowed,
  depegTiming,
  ...extremePrices,
  loneAnchor,
  stableSays,
  staleFeed,
  twoAnchors,
  blockTimes,
  finalityStall,
  gap,
  lookAlike,
  orphanedEvidence,
  reorgGame,
  sameSecond,
]
