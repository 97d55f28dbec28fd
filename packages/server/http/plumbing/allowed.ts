/** Which methods a path is served with: 405 and Allow come from the routes themselves, so none can be forgotten. */
import type { FastifyInstance } from 'fastify'

const ORDER = ['GET', 'POST', 'PUT', 'DELETE']

export class Allowed {
  readonly #routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()

  /** Before any route is registered. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      const entry = this.#routes.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
      for (const each of [method].flat()) entry.methods.add(each)
      this.#routes.set(url, entry)
    })
  }

  /** Null where there is nothing. */
  at(path: string): readonly string[] | null {
    const methods = new Set<string>()
    for (const { pattern, methods: served } of this.#routes.values())
      if (pattern.test(path)) for (const each of served) methods.add(each)
    return methods.size === 0 ? null : ORDER.filter(each => methods.has(each))
  }
}

/** `/v1/pools/:chain_id` as the paths it stands for. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[a-z_]+/g, '[^/]+')
      .replace(/\\\*$/, '.*')}$`,
  )
