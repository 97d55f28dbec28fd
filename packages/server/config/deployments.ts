/** Family-specific keys of a deployment in the configuration: which keys there are, how they are read and shown. */
import type { Family } from '@assay/engine'
import type { DeploymentConfig } from './config.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { join, type Shape } from './shape.ts'

const DEFAULT_TIERS = [100, 500, 3000, 10_000]
const PANCAKE_TIERS = [100, 500, 2500, 10_000]

type Mapping = Readonly<Record<string, unknown>>
type Own<F extends Family> = Extract<DeploymentConfig, { readonly family: F }>
/** Without the keys that every deployment has. */
type Parts<F extends Family> = Omit<Own<F>, keyof Head | 'family'>
type Head = {
  deploymentId: string
  factoryAddress: Hex
  deploymentBlock: number | null
  initCodeHash: Hex | null
}

/** What a deployment needs from its chain. */
type Around = { readonly wrappedNative: Address }

type DeploymentFamily<F extends Family> = {
  /** Pool ids follow from the terms of a pool alone, so a second contract on a chain would repeat those of the first. */
  readonly isSingle?: true
  read(shape: Shape, deployment: Mapping, path: string, chain: Around): Parts<F>
  show(deployment: Own<F>): Mapping
}

const DEPLOYMENTS: { readonly [F in Family]: DeploymentFamily<F> } = {
  amm_v2: {
    read(shape, deployment, path) {
      const at = join(path, 'fee')
      const fee = shape.mapping(deployment['fee'], at, ['numerator', 'denominator'])
      const denominator = shape.integer(fee['denominator'], join(at, 'denominator'), [1, 1_000_000_000])
      return {
        fee: {
          numerator: shape.integer(fee['numerator'], join(at, 'numerator'), [1, denominator]),
          denominator,
        },
      }
    },
    show: ({ fee }) => ({ fee }),
  },
  amm_v3: {
    read: (shape, deployment, path) => ({ feeTiers: tiersFrom(shape, deployment, path, DEFAULT_TIERS) }),
    show: ({ feeTiers }) => ({ fee_tiers: feeTiers }),
  },
  amm_v3_pancake: {
    read: (shape, deployment, path) => ({
      feeTiers: tiersFrom(shape, deployment, path, PANCAKE_TIERS),
      deployerAddress: deployerFrom(shape, deployment, path),
    }),
    show: ({ feeTiers, deployerAddress }) => ({ fee_tiers: feeTiers, deployer_address: deployerAddress }),
  },
  amm_algebra_v1: {
    read: (shape, deployment, path) => ({ deployerAddress: deployerFrom(shape, deployment, path) }),
    show: ({ deployerAddress }) => ({ deployer_address: deployerAddress }),
  },
  amm_v4: {
    isSingle: true,
    read: (_shape, _deployment, _path, { wrappedNative }) => ({ wrappedNative }),
    show: () => ({}),
  },
}

export const DEPLOYMENT_FAMILIES = Object.keys(DEPLOYMENTS) as Family[]

/** Families of which a chain can have one deployment only. */
export const SINGLE_FAMILIES: ReadonlySet<Family> = new Set(
  DEPLOYMENT_FAMILIES.filter(family => DEPLOYMENTS[family].isSingle === true),
)

/** Keys that only some families have; those of another family are not read. */
export const DEPLOYMENT_KEYS = ['fee', 'fee_tiers', 'deployer_address'] as const

export const readDeployment = (
  family: Family,
  head: Head,
  shape: Shape,
  deployment: Mapping,
  path: string,
  chain: Around,
): DeploymentConfig =>
  ({ ...head, family, ...DEPLOYMENTS[family].read(shape, deployment, path, chain) }) as DeploymentConfig

export const showDeployment = (deployment: DeploymentConfig): Mapping =>
  (DEPLOYMENTS[deployment.family] as DeploymentFamily<Family>).show(deployment)

/**
 * For families whose pools are deployed by another contract than the factory: pool addresses follow from that contract.
 */
const deployerFrom = (shape: Shape, deployment: Mapping, path: string): Hex =>
  shape.address(deployment['deployer_address'], join(path, 'deployer_address'))

function tiersFrom(
  shape: Shape,
  deployment: Mapping,
  path: string,
  usual: readonly number[],
): readonly number[] {
  const at = join(path, 'fee_tiers')
  return shape
    .list(deployment['fee_tiers'] ?? usual, at)
    .map((each, n) => shape.integer(each, join(at, n), [0, 999_999, 'parts per million (0.3% is 3000)']))
}
