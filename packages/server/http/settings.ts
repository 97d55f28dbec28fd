/**
 * Settings an operator may change while the service runs, and their present values: the policy and the retention. A
 * change is stored in the database, applied over the configuration file at the next start, and undone by an empty one.
 */
import { count, createState, DEFAULT_POLICY, mergePolicy, ms, type Policy } from '@assay/engine'
import type { Clock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import type { OperatorStore } from '../store/operator.ts'

type Overrides = Readonly<Record<string, unknown>>
export type Retention = Config['retention']

export type PolicyInForce = { readonly version: string; readonly policy: Policy }

export class Settings {
  readonly #store: OperatorStore
  readonly #config: Pick<Config, 'policy' | 'retention'>
  readonly #clock: Clock
  #policy: PolicyInForce
  #retention: Retention

  private constructor(
    store: OperatorStore,
    config: Pick<Config, 'policy' | 'retention'>,
    clock: Clock,
    policy: PolicyInForce,
    retention: Retention,
  ) {
    this.#store = store
    this.#config = config
    this.#clock = clock
    this.#policy = policy
    this.#retention = retention
  }

  static async open(store: OperatorStore, config: Config, clock: Clock): Promise<Settings> {
    const { policy, retention } = await stored(store, config)
    const settings = new Settings(store, config, clock, policy, retention)
    await settings.#keepPolicy(policy)
    return settings
  }

  /** Adopts changes made at another node. */
  async refresh(): Promise<void> {
    const { policy, retention } = await stored(this.#store, this.#config)
    this.#retention = retention
    if (policy.version !== this.#policy.version) this.#policy = policy
  }

  get policy(): PolicyInForce {
    return this.#policy
  }

  get retention(): Retention {
    return this.#retention
  }

  /** The policy that would result; throws `PolicyError` with every fault. */
  policyWith(overrides: Overrides): PolicyInForce {
    return inForce(policyOver(this.#config.policy, overrides))
  }

  /** `overrides` replace those set before. */
  async setPolicy(overrides: Overrides): Promise<PolicyInForce> {
    const policy = this.policyWith(overrides)
    // Records may refer to it from the next step on, so it must be stored by then.
    await this.#keepPolicy(policy)
    await this.#store.writeSetting(
      'policy',
      Object.keys(overrides).length === 0 ? null : JSON.stringify(overrides),
    )
    this.#policy = policy
    return policy
  }

  async setRetention(retention: Retention): Promise<void> {
    await this.#store.writeSetting('retention', JSON.stringify(retention))
    this.#retention = retention
  }

  async #keepPolicy({ version, policy }: PolicyInForce): Promise<void> {
    await this.#store.writePolicy(version, JSON.stringify(policy), this.#clock.nowMs())
  }
}

async function stored(
  store: OperatorStore,
  config: Pick<Config, 'policy' | 'retention'>,
): Promise<{ readonly policy: PolicyInForce; readonly retention: Retention }> {
  const overrides = JSON.parse((await store.readSetting('policy')) ?? '{}') as Overrides
  const retention = await store.readSetting('retention')
  return {
    policy: inForce(policyOver(config.policy, overrides)),
    // An earlier version stored no days of history.
    retention:
      retention === null
        ? config.retention
        : { ...config.retention, ...(JSON.parse(retention) as Partial<Retention>) },
  }
}

function policyOver(file: Overrides, overrides: Overrides): Policy {
  const merged = laidOver(file, overrides)
  return Object.keys(merged).length === 0 ? DEFAULT_POLICY : mergePolicy(merged)
}

/**
 * Merges objects key by key and replaces everything else, as the engine applies overrides to its default. Keys stay as
 * given, `__proto__` among them, so that the engine sees and refuses it.
 */
function laidOver(base: Overrides, over: Overrides): Overrides {
  const laid = Object.entries(over).map(([key, value]): [string, unknown] => {
    const below = Object.hasOwn(base, key) ? base[key] : undefined
    return [key, isPlain(below) && isPlain(value) ? laidOver(below, value) : value]
  })
  return { ...base, ...Object.fromEntries(laid) }
}

const isPlain = (value: unknown): value is Overrides =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The engine names a policy by its content. */
function inForce(policy: Policy): PolicyInForce {
  const nowhere = {
    chainId: count(0),
    blockTimeMs: ms(0),
    stables: [],
    routingAssets: [],
    hasSequencer: false,
  }
  return { version: createState(nowhere, policy).policyView.version, policy }
}
