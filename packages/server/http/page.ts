/** The page at `/`: log in with a key, see live prices. A console takes its place later; nothing is loaded from elsewhere. */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

/** A page may load its own files and nothing else. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

const FILES = [
  ['/', 'page/index.html', 'text/html; charset=utf-8'],
  ['/page.js', 'page/page.js', 'text/javascript; charset=utf-8'],
  ['/page.css', 'page/page.css', 'text/css; charset=utf-8'],
] as const

export function registerPage(app: FastifyInstance): void {
  for (const [path, file, type] of FILES) {
    const body = readFileSync(new URL(file, import.meta.url))
    app.get(path, async (_, reply) => reply.headers({ 'content-type': type, ...PAGE_HEADERS }).send(body))
  }
}
