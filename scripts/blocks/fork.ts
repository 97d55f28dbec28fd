/** The fork a block was made under, as far as the fields of its header tell. */
import type { Fields } from './readBlocks.ts'

type Mark = readonly [field: string, fork: string]

/** Newest first: the first field that is there decides. */
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

/** Where OP-stack chains send the fees of their sequencer. */
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
