/**
 * The file that `assay config init` writes: the requested chains, and every other key as a comment with its meaning and
 * its default. Generated from the schema, so no key is missing and none is invented.
 */
import { CHAIN_TABLE } from './chainTable.ts'
import { CONFIG_KEYS } from './configKeys.ts'
import { configSchema, type JsonSchema, SAMPLE } from './configSchema.ts'

const WIDTH = 110

const HEAD = `# Assay: the configuration of the service.
#
# Commented-out keys are examples; without them a default or the table of built-in chains applies, and
# \`assay config show\` says which. \${NAME} is replaced from the environment. Check it with: assay config check
`

/** `schemaFile` is the schema that editors load. */
export function configTemplate(chainIds: readonly number[], schemaFile: string): string {
  const { properties } = configSchema() as { properties: Record<string, JsonSchema> }
  const parts = Object.keys(properties).map(key =>
    key === 'chains' ? chainsText(chainIds) : key === 'policy' ? policyText() : commented(key, 0),
  )
  return `# yaml-language-server: $schema=${schemaFile}\n${HEAD}\n${parts.join('\n')}`
}

function chainsText(chainIds: readonly number[]): string {
  const chains = chainIds.map(id => {
    const name = CHAIN_TABLE[id]?.['name']
    return `  - chain_id: ${id}${typeof name === 'string' ? `                # ${name}` : ''}
    endpoints:
      - { name: first, url: "\${ASSAY_RPC_${id}}" }
      # - { name: second, url: "\${ASSAY_RPC_${id}_SECOND}" }   # of another provider
`
  })
  const others = Object.keys(SAMPLE.chains[0] ?? {}).filter(key => key !== 'chain_id' && key !== 'endpoints')
  const optional = [...others, 'genesis_hash'].map(key => commented(`chains[].${key}`, 4)).join('')
  const chainKeys = '    # Chain settings that override the built-in ones; required if nothing is built in:\n'
  return `${wrapped(CONFIG_KEYS['chains'] ?? '', 0)}chains:\n${chains.join('')}\n${chainKeys}${optional}`
}

const policyText = (): string =>
  `${wrapped(CONFIG_KEYS['policy'] ?? '', 0)}# policy: { max_hops: 3, min_depth_usd: 50 }\n`

/** A key, its description and those of its nested keys, all commented out. */
function commented(path: string, indent: number): string {
  const key = path.split('.').at(-1) ?? path
  const inner = Object.keys(CONFIG_KEYS).filter(
    each => each.startsWith(`${path}.`) || each.startsWith(`${path}[]`),
  )
  const example = JSON.stringify(at(SAMPLE, path), null, 1)?.replace(/\s*\n\s*/g, ' ') ?? 'null'
  const lines = inner.map(each =>
    wrapped(`${each.slice(path.length).replace(/^\.|^\[\]\.?/, '')}: ${CONFIG_KEYS[each]}`, indent, '  '),
  )
  return `${wrapped(CONFIG_KEYS[path] ?? '', indent)}${lines.join('')}${' '.repeat(indent)}# ${key}: ${example}\n`
}

function at(value: unknown, path: string): unknown {
  const steps = path.split(/\.|(?=\[\])/)
  return steps.reduce<unknown>((each, step) => {
    if (step !== '[]') return (each as Record<string, unknown> | undefined)?.[step]
    const list = each as readonly Record<string, unknown>[]
    // Of two sample chains, the second has the keys that exclude some of the first's.
    return Object.assign({}, ...list.toReversed()) as unknown
  }, value)
}

function wrapped(sentence: string, indent: number, more = ''): string {
  const head = `${' '.repeat(indent)}# ${more}`
  let line = head
  let text = ''
  for (const word of sentence.split(' ')) {
    if (line.length + word.length + 1 > WIDTH && line !== head) {
      text += `${line.trimEnd()}\n`
      line = `${head}  `
    }
    line += `${word} `
  }
  return `${text}${line.trimEnd()}\n`
}
