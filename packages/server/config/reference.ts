/** Every key of the configuration with its meaning, and the reference in the docs. */
import { type Field, fieldsOf, isOptional } from './field.ts'
import { SCHEMA } from './schema.ts'

/** `need` says when a key without a default must be given. */
type Key = { readonly path: string; readonly field: Field; readonly need: string }

/** Every key inside a field, as `chains[].name`. */
export function keysOf(field: Field, path = ''): readonly Key[] {
  if (field.kind === 'list') return keysOf(field.item, `${path}[]`)
  return Object.entries(fieldsOf(field)).flatMap(([key, each]) => {
    const own = path === '' ? key : `${path}.${key}`
    return [{ path: own, field: each, need: needOf(field, key) }, ...keysOf(each, own)]
  })
}

function needOf(field: Field, key: string): string {
  if (field.kind !== 'variants' || key in field.shared) return 'required'
  if (typeof field.by !== 'string') return ''
  const names = Object.keys(field.forms).filter(name => key in (field.forms[name] ?? {}))
  return `required for ${names.map(name => `\`${name}\``).join(', ')}`
}

/** Each key explained in a sentence. */
export const CONFIG_KEYS: Readonly<Record<string, string>> = Object.fromEntries(
  keysOf(SCHEMA).map(({ path, field }) => [path, field.about]),
)

/** A part for each section, with a table of its keys: their values, defaults and meanings. */
export function configReference(): string {
  const sections = Object.entries(fieldsOf(SCHEMA)).map(([name, field]) => {
    const inner = keysOf(field, name)
    const keys = inner.length === 0 ? [{ path: name, field, need: 'required' }] : inner
    const table = ['| key | value | default | meaning |', '|---|---|---|---|', ...keys.map(rowOf)]
    return `## ${name}\n\n${inner.length === 0 ? '' : `${field.about}\n\n`}${table.join('\n')}\n`
  })
  return sections.join('\n')
}

function rowOf({ path, field, need }: Key): string {
  const cells = [
    `\`${path}\``,
    `${valueText(field)}${field.isNullable === true ? ', or null' : ''}`,
    defaultText(field, need),
    field.about,
  ]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function valueText(field: Field): string {
  switch (field.kind) {
    case 'integer': {
      const [min, max, unit] = field.range
      const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `${min} to ${max}`
      return `integer, ${range}${unit === undefined ? '' : `, in ${unit}`}`
    }
    case 'flag':
      return 'true or false'
    case 'choice':
      return field.choices.map(each => `\`${each}\``).join(', ')
    case 'text':
      return field.format[1]
    case 'url':
      return `a URL of ${field.schemes.join(', ')}`
    case 'list':
      return `list${field.atLeastOne === undefined ? '' : ', not empty'}, of: ${valueText(field.item)}`
    case 'either':
      return `${valueText(field.plain)}; or a mapping`
    case 'mapping':
    case 'variants':
    case 'open':
      return 'mapping'
  }
}

function defaultText(field: Field, need: string): string {
  if (field.isBuiltIn === true) return 'built in'
  if (field.defaultFrom !== undefined) return field.defaultFrom.says
  if ((field.default ?? null) !== null) return `\`${JSON.stringify(field.default)}\``
  if (field.default === null || isOptional(field)) return field.kind === 'list' ? '`[]`' : ''
  return need
}
