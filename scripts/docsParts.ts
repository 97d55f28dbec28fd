/** Parts of the docs that follow from the schemas of the API, the stream and the configuration, each between its two comments. */
import { configReference } from '../packages/server/config/reference.ts'
import { asyncApiDocument } from '../packages/server/http/asyncapi/document.ts'
import { openApiDocument } from '../packages/server/http/openapi/document.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly description?: string
}
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
}
type Operation = {
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: unknown
  readonly responses: Readonly<Record<string, unknown>>
}
type OpenApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
type AsyncApi = {
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly summary: string; readonly payload: Schema }>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** By page and by the name of the part. */
export function madeParts(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return {
    'docs/API.md': { operations: operationsTable(openApiDocument() as unknown as OpenApi) },
    'docs/CONFIGURATION.md': { keys: configReference() },
    'docs/STREAM.md': { messages: messagesTables(asyncApiDocument() as unknown as AsyncApi) },
  }
}

export function withParts(
  page: string,
  parts: Readonly<Record<string, string>>,
  command = 'npm run docs',
): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const begin = `<!-- ${name}: made by ${command} -->\n`
    const end = `<!-- end of ${name} -->`
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`the page has no place for the part ${name}`)
    return `${text.slice(0, from)}${begin}\n${part}\n${text.slice(to)}`
  }, page)
}

function operationsTable({ paths }: OpenApi): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, parameters = [], requestBody, responses }]) => {
      const query = parameters.filter(each => each.in === 'query').map(each => `\`${each.name}\``)
      const asked = [...query, ...(requestBody === undefined ? [] : ['a body'])]
      return row(
        `${method.toUpperCase()} \`${path}\``,
        asked.join(', ') || '–',
        Object.keys(responses).join(' '),
        summary,
      )
    }),
  )
  return table(['operation', 'query', 'statuses', 'what it does'], rows)
}

function messagesTables({ components }: AsyncApi): string {
  return Object.entries(components.messages)
    .map(([name, { summary, payload }]) => {
      const fields = fieldsOf(payload, components.schemas)
      return `**${name}** ${summary}\n\n${table(
        ['field', 'type'],
        fields.map(([field, type]) => row(`\`${field}\``, type)),
      )}`
    })
    .join('\n')
}

/** The fields of a schema, two levels deep: an envelope and its content. */
function fieldsOf(schema: Schema, known: AsyncApi['components']['schemas'], prefix = ''): [string, string][] {
  const { properties = {}, required = [], anyOf, oneOf } = resolved(schema, known)
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return merged(choices.map(each => fieldsOf(each, known, prefix)))
  return Object.entries(properties).flatMap(([name, property]): [string, string][] => {
    const own: [string, string] = [
      `${prefix}${name}`,
      `${typeText(property, known)}${required.includes(name) ? '' : ', optional'}`,
    ]
    return prefix === '' && name === 'payload' ? [own, ...fieldsOf(property, known, 'payload.')] : [own]
  })
}

/** The fields of alternatives: each with all its types, and whether every alternative has it. */
function merged(alternatives: readonly (readonly [string, string][])[]): [string, string][] {
  const names = new Set(alternatives.flatMap(fields => fields.map(([name]) => name)))
  return [...names].map(name => {
    const types = alternatives.map(fields => fields.find(([each]) => each === name)?.[1])
    const said = [...new Set(types.filter(type => type !== undefined))].join(' or ')
    return [
      name,
      types.includes(undefined) && !said.endsWith(', some variants') ? `${said}, some variants` : said,
    ]
  })
}

const resolved = (schema: Schema, known: AsyncApi['components']['schemas']): Schema =>
  schema.$ref === undefined ? schema : (known[schema.$ref.split('/').at(-1) as string] ?? {})

function typeText(schema: Schema, known: AsyncApi['components']['schemas']): string {
  const { type, enum: values, const: value, items, anyOf, oneOf } = schema
  if (schema.$ref !== undefined) {
    const target = resolved(schema, known)
    return target.type === 'object' || target.anyOf !== undefined || target.oneOf !== undefined
      ? (schema.$ref.split('/').at(-1) as string)
      : typeText(target, known)
  }
  if (value !== undefined) return `\`${JSON.stringify(value)}\``
  if (values !== undefined) return values.map(each => `\`${JSON.stringify(each)}\``).join(' or ')
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return [...new Set(choices.map(each => typeText(each, known)))].join(' or ')
  if (items !== undefined) return `list of ${typeText(items, known)}`
  return [type ?? 'any'].flat().join(' or ')
}

const row = (...cells: readonly string[]): string =>
  `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), `|${head.map(() => '---').join('|')}|`, ...rows, ''].join('\n')
