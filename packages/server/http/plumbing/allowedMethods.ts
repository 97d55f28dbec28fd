/** Which methods each path supports: 405 and Allow are derived from the routes themselves, so none can be forgotten. */
import type { FastifyInstance } from 'fastify'

const ORDER = ['GET', 'POST', 'PUT', 'DELETE']

export class AllowedMethods {
  readonly #routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()

  /** Call before any route is registered. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      const entry = this.#routes.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
      for (const each of [method].flat()) entry.methods.add(each)
      this.#routes.set(url, entry)
    })
  }

  /** Null for an unknown path. */
  at(path: string): readonly string[] | null {
    const methods = new Set<string>()
    for (const { pattern, methods: served } of this.#routes.values())
      if (pattern.test(path)) for (const each of served) methods.add(each)
    return methods.size === 0 ? null : ORDER.filter(each => methods.has(each))
  }
}

/** A pattern for the paths that `/v1/pools/:chain_id` matches. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[a-z_]+/g, '[^/]+')
      .replace(/\\\*$/, '.*')}$`,
  )
