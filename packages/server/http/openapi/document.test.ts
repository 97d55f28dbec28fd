import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { openApiDocument } from './document.ts'
import { OPERATIONS } from './operations.ts'
import { complaintsOf } from '../testing/redocly.ts'

it('passes the linter with every recommended rule and not one warning', () => {
  expect(complaintsOf(openApiDocument())).toBe('')
}, 120_000)

it('has no dangling reference, and no unused component', () => {
  const text = JSON.stringify(openApiDocument())
  const { components } = openApiDocument() as { components: Record<string, object> }
  const named = new Set(
    Object.entries(components).flatMap(([kind, each]) =>
      kind === 'securitySchemes' ? [] : Object.keys(each).map(name => `#/components/${kind}/${name}`),
    ),
  )
  const referred = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1] as string))
  expect([...referred].filter(ref => !named.has(ref))).toEqual([])
  expect([...named].filter(name => !referred.has(name))).toEqual([])
})

it('has an example, a real response, for every operation that returns a record and no secret', () => {
  const { paths } = openApiDocument() as {
    paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, object> }> }>>
  }
  const bare = OPERATIONS.filter(({ id, path, method, answers }) => {
    if (['createSession', 'issueKey', 'rollKey', 'createWebhook', 'rotateWebhook'].includes(id)) return false
    const first = Object.entries(answers).find(([, schema]) => schema !== null)?.[0]
    if (first === undefined) return false
    return !('example' in (paths[path]?.[method]?.responses[first]?.content?.['application/json'] ?? {}))
  })
  expect(bare.map(({ id }) => id)).toEqual([])
})

type Described = { readonly description?: string; readonly $ref?: string }
type Shown = {
  readonly parameters: readonly (Described & { readonly name: string; readonly example?: unknown })[]
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}

it('describes every parameter, body, response and header, with a valid example of each parameter', () => {
  const { paths, components } = openApiDocument() as unknown as {
    paths: Record<string, Record<string, Shown>>
    components: Record<'responses' | 'headers' | 'schemas', Record<string, Described>>
  }
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema({ $id: 'api', components: components.schemas })
  const isSaid = (text: string | undefined) => text !== undefined && text.length > 8 && text.endsWith('.')
  const bare: string[] = []
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters, requestBody, responses }] of Object.entries(methods)) {
      const note = (what: string) => bare.push(`${method} ${path}: ${what}`)
      for (const each of parameters) {
        if (!isSaid(each.description)) note(each.name)
        const { schema } = each as unknown as { schema: Described }
        const named = schema.$ref?.split('/').at(-1)
        const fits = ajv.validate(
          named === undefined ? schema : (components.schemas[named] ?? {}),
          each.example,
        )
        if (!fits) note(`the example of ${each.name}`)
      }
      if (requestBody !== undefined && !isSaid(requestBody.description)) note('the body')
      for (const [status, { description, $ref }] of Object.entries(responses))
        if ($ref === undefined && !isSaid(description)) note(status)
    }
  for (const [name, { description }] of Object.entries({ ...components.responses, ...components.headers }))
    if (!isSaid(description)) bare.push(name)
  expect(bare).toEqual([])
})
