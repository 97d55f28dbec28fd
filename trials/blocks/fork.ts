/** The fork of a block, as its header fields show it. */
import type { Fields } from './readBlocks.ts'

type Mark = readonly [field: string, fork: string]

/** Newest first: the first field present decides. */
const ETHEREUM: readonly Mark[] = [
  ['blockAccessListHash', 'Glamsterdam'],
  ['requestsHash', 'Prague'],
  ['parentBeaconBlockRoot', 'Cancun'],
  ['withdrawalsRoot', 'Shanghai'],
  ['baseFeePerGas', 'London'],
]
const OP_STACK: readonly Mark[] = [
  ['requestsHash', 'Isthmus'],
  ['parentBeaconBlockRoot', 'Ecotone'],
  ['withdrawalsRoot', 'Canyon'],
  ['baseFeePerGas', 'Bedrock'],
]
const CORETH: readonly Mark[] = [
  ['settledHeight', 'Helicon'],
  ['minDelayExcess', 'Granite'],
  ['parentBeaconBlockRoot', 'Etna'],
  ['blockGasCost', 'Apricot 4'],
  ['baseFeePerGas', 'Apricot 3'],
]

/** Recipient of sequencer fees on OP-stack chains. */
const FEE_VAULT = '0x4200000000000000000000000000000000000011'

export function forkOf(header: Fields): string {
  if ('extDataHash' in header || 'extDataGasUsed' in header) return named(header, CORETH, 'Apricot')
  if ('l1BlockNumber' in header) return 'sendRoot' in header ? 'Nitro' : 'classic'
  return header['miner'] === FEE_VAULT
    ? named(header, OP_STACK, 'before Bedrock')
    : named(header, ETHEREUM, 'before London')
}

const named = (header: Fields, marks: readonly Mark[], otherwise: string): string =>
  marks.find(([field]) => header[field] !== undefined && header[field] !== null)?.[1] ?? otherwise
