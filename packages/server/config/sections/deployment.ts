/** Factories of a chain: those whose pools are priced, with the keys of each family, and those that are recognised. */
import type { Family } from '@assay/engine'
import type { Address } from '../../ops/hex.ts'
import type { FaultLog } from '../faultLog.ts'
import {
  choice,
  type Field,
  type Fields,
  integer,
  list,
  mapping,
  nullable,
  nullish,
  tagged,
  text,
  type ValueOf,
} from '../field.ts'
import { address, exampleAddress, hash, MAX } from '../formats.ts'
import type { Named } from '../named.ts'

const deploymentId = (examples: readonly string[]) =>
  text('A name of your choice for the factory.', [/^[\w-]{1,60}$/, 'an id of letters, digits and dashes'], {
    examples,
  })

const FEE = mapping(
  'For amm_v2: the share of the input that is traded, such as 997/1000.',
  {
    numerator: integer('The numerator.', [1, 1_000_000_000], { examples: [997] }),
    denominator: integer('The denominator.', [1, 1_000_000_000], { examples: [1000] }),
  },
  { rules: [atMostTheWhole] },
)

type Fee = { readonly numerator: number; readonly denominator: number }

function atMostTheWhole({ numerator, denominator }: Fee, path: string, faults: FaultLog): void {
  if (numerator > denominator)
    faults.add(`${path}.numerator`, numerator, `an integer from 1 to ${denominator}`)
}

const feeTiers = (usual: readonly number[]): Field<readonly number[]> =>
  list(
    'For amm_v3 and amm_v3_pancake: fee tiers to look up, in parts per million. The default of amm_v3_pancake has 2500 instead of 3000.',
    integer('', [0, 999_999, 'parts per million (0.3% is 3000)']),
    {
      default: usual,
      isNullable: true,
    },
  )

/** Pool addresses follow from it, where another contract than the factory deploys them. */
const DEPLOYER = address('For amm_v3_pancake and amm_algebra_v1: the contract that deploys its pools.')

const FAMILIES = {
  amm_v2: { fee: FEE },
  amm_v3: { fee_tiers: feeTiers([100, 500, 3000, 10_000]) },
  amm_v3_pancake: { fee_tiers: feeTiers([100, 500, 2500, 10_000]), deployer_address: DEPLOYER },
  amm_algebra_v1: { deployer_address: DEPLOYER },
  amm_v4: {},
} as const satisfies Readonly<Record<Family, Fields>>

const DEPLOYMENT = tagged(
  'family',
  {
    deployment_id: deploymentId(['uniswap-v2', 'uniswap-v3', 'pancake-v3', 'quickswap-v3', 'uniswap-v4']),
    family: choice('The family of its pools.', Object.keys(FAMILIES) as Family[]),
    factory_address: address('The address of the factory.', {
      examples: [1, 2, 3, 4, 5].map(exampleAddress),
    }),
    deployment_block: nullable(
      integer(
        'The block it was deployed in; a back-fill begins there. Null if unknown: it begins with the chain.',
        [0, MAX],
        {
          examples: [10_000_835, 12_369_621, null],
        },
      ),
    ),
    init_code_hash: nullish(hash('Hash of the init code of its pools; used to check their addresses.')),
  },
  FAMILIES,
)

/** Their pool ids follow from the terms of a pool alone, so a second contract would repeat those of the first. */
const SINGLE_FAMILIES: ReadonlySet<Family> = new Set(['amm_v4'])

export const DEPLOYMENTS = list('Factories whose pools are looked up.', DEPLOYMENT, {
  unique: ['deployment_id', 'factory_address'],
  rule: poolIdsDiffer,
})

function poolIdsDiffer(all: readonly { readonly family: Family }[], path: string, faults: FaultLog): void {
  for (const [at, { family }] of all.entries()) {
    const first = all.findIndex(each => each.family === family)
    if (first === at || !SINGLE_FAMILIES.has(family)) continue
    faults.add(
      `${path}[${at}].family`,
      family,
      `one deployment of ${family} on a chain, because two would have the same pool ids; ${path}[${first}] already is one`,
    )
  }
}

type FileDeployment = Named<ValueOf<typeof DEPLOYMENT>>

/** In the manager of `amm_v4`, which is its factory, the native currency counts as the wrapped native token. */
export type DeploymentConfig =
  | Exclude<FileDeployment, { readonly family: 'amm_v4' }>
  | (Extract<FileDeployment, { readonly family: 'amm_v4' }> & { readonly wrappedNative: Address })

export const ofChain = (deployment: FileDeployment, wrappedNative: Address): DeploymentConfig =>
  deployment.family === 'amm_v4' ? { ...deployment, wrappedNative } : deployment

/** Families without an adapter whose factories can look up the pool of a pair. */
const UNPRICED_FAMILIES = [
  'algebra',
  'pancake_v3',
  'slipstream',
  'solidly',
  'liquidity_book',
  'curve',
] as const

export const UNPRICED_FACTORY = mapping('', {
  deployment_id: deploymentId(['quickswap-v3']),
  family: choice('The family of its pools.', UNPRICED_FAMILIES),
  factory_address: address('The address of the factory, or of a registry of such pools.'),
})
