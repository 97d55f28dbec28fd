/**
 * The code of a price feed's proxy, assembled by hand: `aggregator()` is answered by itself, every other call is read from
 * the aggregator. A test puts it at an address, and puts it there once more to turn to another aggregator.
 */
import type { Hex } from '../../ops/hex.ts'
import { SELECTOR } from '../abi.ts'

export function aggregatorProxy(aggregator: Hex): Hex {
  const pushAggregator = `73${aggregator.slice(2)}`
  const code = [
    // The selector, from the first word of the call: is it aggregator()?
    `600035 60e01c 63${SELECTOR['aggregator()'].slice(2)} 14 6045 57`,
    // No: forward the whole call, and return its result, a failure as a failure.
    '36 6000 6000 37',
    `6000 6000 36 6000 ${pushAggregator} 5a fa`,
    '3d 6000 6000 3e',
    '6040 57 3d 6000 fd',
    '5b 3d 6000 f3',
    // Yes, at 0x45: the address in one word.
    `5b ${pushAggregator} 6000 52 6020 6000 f3`,
  ]
  return `0x${code.join('').replaceAll(' ', '')}`
}
