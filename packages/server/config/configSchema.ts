/**
 * The JSON Schema of the configuration, for editors. It is derived rather than written: the reader of the configuration
 * reads a sample that has every key, and each of its calls (type, bounds, default) gives a line of the schema. Leaving
 * a key out, and setting it to null, shows whether it is required and nullable.
 */
import { DEFAULT_POLICY } from '@assay/engine'
import { CONFIG_KEYS } from './configKeys.ts'
import { configFrom } from './loadConfig.ts'
import { join, Shape } from './shape.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }

const hex = (byte: string, bytes: number): string => `0x${byte.repeat(bytes)}`
const ADDRESS = [hex('11', 20), hex('22', 20), hex('33', 20)] as const

/** Every key in every form it can have. The chain is a built-in one, so that values in the table may be left out. */
export const SAMPLE = {
  listen: {
    host: '127.0.0.1',
    port: 8080,
    public_origin: 'https://prices.example',
    trusted_proxies: ['10.0.0.1'],
  },
  store: 'postgres://assay:secret@primary/assay',
  replica: 'postgres://assay:secret@replica/assay',
  admin: { allow: ['127.0.0.1/32'] },
  access: { cors_origins: ['https://app.example'] },
  compat: {
    coingecko: true,
    defillama: true,
    udf: true,
    min_score: 1,
    listen: { host: '127.0.0.1', port: 8081 },
  },
  mcp: { enabled: true, min_score: 4 },
  retention: { hours: 72, records: 1_000_000, history_days: 365 },
  webhooks: { allow_private: ['10.0.0.0/8'] },
  chains: [
    {
      chain_id: 1,
      name: 'Ethereum',
      endpoints: [{ name: 'own-node', url: 'ws://127.0.0.1:8546' }],
      checkpoint: { block_number: 20_000_000, block_hash: hex('ab', 32) },
      block_time_ms: 12_048,
      start_behind_s: 330,
      finality: { tag: 'finalized' },
      proof: { header: 'standard', receipts: 'standard' },
      wrapped_native: ADDRESS[0],
      deployments: [
        {
          deployment_id: 'uniswap-v3',
          family: 'amm_v3',
          factory_address: ADDRESS[0],
          deployment_block: 12_369_621,
          init_code_hash: hex('ab', 32),
          fee_tiers: [100, 500, 3000, 10_000],
        },
        {
          deployment_id: 'uniswap-v2',
          family: 'amm_v2',
          factory_address: ADDRESS[1],
          deployment_block: 10_000_835,
          fee: { numerator: 997, denominator: 1_000_000_000 },
        },
        {
          deployment_id: 'pancake-v3',
          family: 'amm_v3_pancake',
          factory_address: ADDRESS[2],
          deployer_address: ADDRESS[0],
          deployment_block: null,
        },
      ],
      unpriced_factories: [{ deployment_id: 'quickswap-v3', family: 'algebra', factory_address: ADDRESS[2] }],
      stables: [
        { token_address: ADDRESS[1], usd_feed: { address: ADDRESS[2], heartbeat_s: 86_400, grace_s: 1800 } },
      ],
      sequencer_uptime_feed: ADDRESS[2],
      routing_assets: [
        ADDRESS[0],
        {
          token_address: ADDRESS[1],
          usd_feed: { address: ADDRESS[2], heartbeat_s: 3600, grace_s: 300 },
        },
      ],
      pools: [ADDRESS[2]],
      tokens: [ADDRESS[2]],
    },
    {
      chain_id: 56,
      endpoints: [{ name: 'own-node', url: 'http://127.0.0.1:8545' }],
      genesis_hash: '0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b',
      finality: { depth: 64 },
    },
  ],
  coverage: {
    sources: [
      {
        kind: 'static',
        as_of_ms: 1_763_164_800_000,
        assets: [{ chain_id: 1, token_address: ADDRESS[0], external_depth_usd: '25000000' }],
      },
      { kind: 'file', path: 'coverage.json' },
    ],
  },
  policy: {},
  rpc: { max_answer_mib: 256 },
}

export function configSchema(): JsonSchema {
  const outline = new Outline()
  configFrom(outline, SAMPLE, '/')
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Assay: the configuration of the service',
    ...schemaAt(outline, ''),
  }
}

/** Every value in the file may come from the environment. */
const VARIABLE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' } as const

function schemaAt(outline: Outline, path: string): JsonSchema {
  const about = CONFIG_KEYS[path]
  const described = about === undefined ? {} : { description: about }
  if (path === 'policy') return { ...described, ...schemaOfValue(DEFAULT_POLICY, false) }
  const [heard, other] = outline.heard.get(path) ?? []
  if (heard === undefined) throw new Error(`the sample of the configuration does not lead to ${path}`)
  if (other !== undefined)
    return { ...described, anyOf: [other, heard].map(each => schemaOf(outline, path, each, {})) }
  return schemaOf(outline, path, heard, described)
}

function schemaOf(outline: Outline, path: string, heard: Heard, described: JsonSchema): JsonSchema {
  if (heard.kind === 'list') return { ...described, type: 'array', items: schemaAt(outline, `${path}[]`) }
  if (heard.kind === 'scalar') return { ...described, ...heard.schema, anyOf: [heard.form, VARIABLE] }
  const keys = heard.keys.map(key => ({ key, own: join(path, key) }))
  return {
    ...described,
    type: 'object',
    properties: Object.fromEntries(
      keys.map(({ key, own }) => {
        const inner = schemaAt(outline, own)
        return [key, outline.probe(own).isNullable ? nullable(inner) : inner]
      }),
    ),
    required: keys.filter(({ own }) => outline.probe(own).isRequired).map(({ key }) => key),
    additionalProperties: false,
  }
}

const nullable = ({ description, ...schema }: JsonSchema): JsonSchema => ({
  ...(description === undefined ? {} : { description }),
  anyOf: [schema, { type: 'null' }],
})

/** The policy's types come from its default; the bounds are the engine's, and `assay config check` reports them. */
function schemaOfValue(value: unknown, hasDefault = true): JsonSchema {
  const standard = hasDefault ? { default: value } : {}
  if (Array.isArray(value)) return { ...standard, type: 'array' }
  if (typeof value !== 'object' || value === null)
    return {
      ...standard,
      type: typeof value === 'number' ? 'integer' : ['string', 'integer', 'boolean', 'null'],
    }
  const entries = Object.entries(value)
  // A map by chain id: any other id is allowed too.
  const isMap = entries.every(([key]) => /^\d+$/.test(key))
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, each]) => [key, schemaOfValue(each)])),
    additionalProperties: isMap ? { type: 'integer' } : false,
  }
}

type Heard =
  | { readonly kind: 'mapping'; readonly keys: readonly string[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'scalar'; readonly form: JsonSchema; readonly schema: JsonSchema }

/** A reader that records what is requested from it, by path without indexes. */
class Outline extends Shape {
  readonly heard = new Map<string, Heard[]>()
  readonly #paths = new Map<string, Set<string>>()

  override mapping(value: unknown, path: string, keys: readonly string[]): Record<string, unknown> {
    this.#hear(path, { kind: 'mapping', keys })
    for (const key of keys) this.#note(join(path, key))
    return super.mapping(value, path, keys)
  }

  override list(value: unknown, path: string): readonly unknown[] {
    this.#hear(path, { kind: 'list' })
    return super.list(value, path)
  }

  override integer(
    value: unknown,
    path: string,
    range: readonly [min: number, max: number, unit?: string],
    otherwise?: number,
  ): number {
    this.#hear(path, {
      kind: 'scalar',
      form: { type: 'integer', minimum: range[0], maximum: range[1] },
      schema: otherwise === undefined ? {} : { default: otherwise },
    })
    return super.integer(value, path, range, otherwise)
  }

  /** Its default depends on other keys, so the schema gives none. */
  override flag(value: unknown, path: string, otherwise: boolean): boolean {
    this.#hear(path, { kind: 'scalar', form: { type: 'boolean' }, schema: {} })
    return super.flag(value, path, otherwise)
  }

  override text(value: unknown, path: string, expected: string, pattern: RegExp, otherwise?: string): string {
    this.#hear(path, {
      kind: 'scalar',
      form: { type: 'string', pattern: pattern.source },
      schema: otherwise === undefined ? {} : { default: otherwise },
    })
    return super.text(value, path, expected, pattern, otherwise)
  }

  override url(value: unknown, path: string, schemes: readonly string[]): string {
    this.#hear(path, {
      kind: 'scalar',
      form: { type: 'string', pattern: `^(?:${schemes.join('|')})://` },
      schema: {},
    })
    return super.url(value, path, schemes)
  }

  override choice<Choice extends string>(
    value: unknown,
    path: string,
    choices: readonly Choice[],
    otherwise?: Choice,
  ): Choice {
    this.#hear(path, {
      kind: 'scalar',
      form: { enum: [...choices] },
      schema: otherwise === undefined ? {} : { default: otherwise },
    })
    return super.choice(value, path, choices, otherwise)
  }

  /** Over all positions of the sample with this path: whether it is required, and may be null. */
  probe(path: string): { readonly isRequired: boolean; readonly isNullable: boolean } {
    const places = [...(this.#paths.get(path) ?? [])]
    const isFaulted = (place: string, value: unknown) => {
      const shape = new Shape()
      configFrom(shape, changed(SAMPLE, place, value), '/')
      return shape.faults.some(fault => fault.path.startsWith(place))
    }
    return {
      isRequired: places.every(place => isFaulted(place, undefined)),
      isNullable: places.every(place => !isFaulted(place, null)),
    }
  }

  #hear(path: string, heard: Heard): void {
    const general = path.replace(/\[\d+\]/g, '[]')
    // Entries of a list are read one by one; the first of each kind represents all.
    const before = this.heard.get(general) ?? []
    if (before.some(({ kind }) => kind === heard.kind)) return
    this.heard.set(general, [...before, heard])
  }

  #note(place: string): void {
    const general = place.replace(/\[\d+\]/g, '[]')
    this.#paths.set(general, (this.#paths.get(general) ?? new Set()).add(place))
  }
}

/** A copy with another value at a path such as `chains[0].name`; undefined removes it. */
function changed(document: object, path: string, value: unknown): object {
  const copy = structuredClone(document)
  const steps = path.split(/[.[\]]+/).filter(step => step !== '')
  const last = steps.pop() as string
  let at: Record<string, unknown> | undefined = copy as Record<string, unknown>
  for (const step of steps) at = at?.[step] as Record<string, unknown> | undefined
  if (at === undefined) return copy
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}
