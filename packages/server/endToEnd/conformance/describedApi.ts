/**
 * Calls the API of a running service and checks every answer against the document the service publishes: its operation,
 * its status, its body, its headers. Anything the document does not describe fails the test.
 */
import { type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { KEY_ANYWHERE } from '../../access/apiKey.ts'
import { type Answer, ask, type Asking } from '../testing/answer.ts'
import type { TestService } from '../testing/testService.ts'

type Response = {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: { readonly 'application/json': { readonly schema: object } }
}
type Described = {
  readonly operationId: string
  readonly description?: string
  readonly responses: Readonly<Record<string, Response>>
}
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
}

type Route = {
  readonly pattern: RegExp
  readonly path: string
  readonly method: string
  readonly of: Described
}

/** Calls the API and checks each answer against the document. */
export class DescribedApi {
  readonly service: TestService
  readonly document: Document
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false })
  readonly #routes: readonly Route[]
  readonly #validators = new Map<string, ValidateFunction>()
  /** The first answer of every operation and status, for the examples of the document. */
  readonly answers = new Map<string, Map<string, unknown>>()
  /** Texts that no answer may contain. */
  readonly secrets: string[] = []

  constructor(service: TestService, document: Document) {
    this.service = service
    this.document = document
    this.#ajv.addSchema(document, 'openapi')
    this.#routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, of]) => ({
        pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}$`),
        path,
        method: method.toUpperCase(),
        of,
      })),
    )
  }

  static async of(service: TestService): Promise<DescribedApi> {
    const { body } = await ask(`${service.url}/openapi.json`)
    return new DescribedApi(service, body as Document)
  }

  /** With a key of its own, unless one is given, so that no test spends another's quota. */
  async get(path: string, asking: Asking = {}): Promise<Answer> {
    return this.ask(path, { key: await this.service.key(), ...asking })
  }

  async post(path: string, body: unknown, asking: Asking = {}): Promise<Answer> {
    return this.ask(path, {
      key: await this.service.key(),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...asking,
    })
  }

  async ask(path: string, asking: Asking = {}): Promise<Answer> {
    const answer = await ask(`${this.service.url}${path}`, asking)
    this.#expectDescribed(path, asking, answer)
    return answer
  }

  #expectDescribed(path: string, { method = 'GET', key, body }: Asking, answer: Answer): void {
    const where = `${method} ${path} → ${answer.status} ${answer.text.slice(0, 300)}`
    expect(answer.headers.get('x-request-id'), where).toMatch(/^[0-9a-f-]{36}$/)
    const bare = path.split('?')[0] ?? ''
    const route = this.#routes.find(each => each.method === method && each.pattern.test(bare))
    if (bare.startsWith('/v1/') && key !== undefined && answer.status !== 401 && answer.status < 500) {
      expect(answer.headers.get('ratelimit-policy'), where).toMatch(/^"default";q=\d+;w=\d+$/)
      expect(answer.headers.get('ratelimit'), where).toMatch(/^"default";r=\d+;t=\d+$/)
    }
    if ([401, 403, 429, 204, 304].includes(answer.status)) expect(answer.text, where).toBe('')
    if (answer.status === 401) expect(answer.headers.get('www-authenticate'), where).toBe('Bearer')
    if (answer.status === 429 || answer.status === 202)
      expect(answer.headers.get('retry-after'), where).toMatch(/^[1-9]\d*$/)
    if (answer.status === 405) expect(answer.headers.get('allow'), where).toMatch(/^[A-Z]+(, [A-Z]+)*$/)
    for (const secret of this.secrets) expect(answer.text.includes(secret), where).toBe(false)
    if (route === undefined) {
      expect([401, 404, 405], where).toContain(answer.status)
      if (answer.text !== '') expect(answer.body, where).toEqual({ error: expect.any(String) as string })
      return
    }
    if (!['issueKey', 'rollKey'].includes(route.of.operationId))
      expect(KEY_ANYWHERE.test(answer.text), where).toBe(false)
    const described = route.of.responses[String(answer.status)]
    expect(described, `${where}: the status is not in the document`).toBeDefined()
    const pointer = this.#schemaOf(route, String(answer.status))
    if (pointer === null) expect(answer.text, where).toBe('')
    else {
      const validate = this.#validatorAt(pointer)
      expect(validate(answer.body) ? [] : validate.errors, where).toEqual([])
    }
    this.#remember(route.of.operationId, answer, body)
  }

  #schemaOf({ path, method, of }: Route, status: string): string | null {
    const response = of.responses[status] as Response
    const name = response.$ref?.split('/').at(-1)
    const resolved = name === undefined ? response : this.document.components.responses[name]
    if (resolved?.content === undefined) return null
    const escaped = path
      .replaceAll('~', '~0')
      .replaceAll('/', '~1')
      .replaceAll('{', '%7B')
      .replaceAll('}', '%7D')
    const at =
      name === undefined
        ? `/paths/${escaped}/${method.toLowerCase()}/responses/${status}`
        : `/components/responses/${name}`
    return `openapi#${at}/content/application~1json/schema`
  }

  #validatorAt(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer)
    if (known !== undefined) return known
    const made = this.#ajv.compile({ $ref: pointer })
    this.#validators.set(pointer, made)
    return made
  }

  #remember(id: string, { status, body }: Answer, request: string | undefined): void {
    const known = this.answers.get(id) ?? new Map<string, unknown>()
    if (!known.has(String(status)) && body !== null) known.set(String(status), body)
    if (status < 300 && request !== undefined && !known.has('request'))
      known.set('request', JSON.parse(request))
    this.answers.set(id, known)
  }
}
