/**
 * The file that `assay config init` writes: the requested chains, and every other key as a comment with its meaning and
 * an example.
 */
import { CHAIN_TABLE } from './chainTable.ts'
import { examplesOf } from './examples.ts'
import { type Field, fieldsOf } from './field.ts'
import { keysOf } from './reference.ts'
import { SCHEMA } from './schema.ts'
import { CHAIN, CHAINS } from './sections/chain.ts'

const WIDTH = 110

const HEAD = `# Assay: the configuration of the service.
#
# Commented-out keys are examples; without them a default or the table of built-in chains applies, and
# \`assay config show\` says which. \${NAME} is replaced from the environment. Check it with: assay config check
`

/** `schemaFile` is the schema that editors load. */
export function configTemplate(chainIds: readonly number[], schemaFile: string): string {
  const parts = Object.entries(fieldsOf(SCHEMA)).map(([key, field]) =>
    key === 'chains' ? chainsText(chainIds) : commented(key, field, 0),
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
  const { chain_id: _, endpoints: _given, ...others } = fieldsOf(CHAIN)
  const optional = Object.entries(others).map(([key, field]) => commented(key, field, 4))
  const chainKeys = '    # Chain settings that override the built-in ones; required if nothing is built in:\n'
  return `${wrapped(CHAINS.about, 0)}chains:\n${chains.join('')}\n${chainKeys}${optional.join('')}`
}

/** A key, its description and those of its nested keys, all commented out. */
function commented(key: string, field: Field, indent: number): string {
  const example = JSON.stringify(examplesOf(field)[0], null, 1).replace(/\s*\n\s*/g, ' ')
  const lines = keysOf(field).map(each =>
    wrapped(`${each.path.replace(/^\[\]\./, '')}: ${each.field.about}`, indent, '  '),
  )
  return `${wrapped(field.about, indent)}${lines.join('')}${' '.repeat(indent)}# ${key}: ${example}\n`
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
