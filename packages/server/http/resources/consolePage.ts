/**
 * The console at `/`: the files of its bundle, read once and served from memory, with a policy that lets a page load
 * its own files and nothing else. Without a bundle the root names the API's documentation.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

/** A page may load its own files and nothing else. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Names of built files contain a hash of their content; the page that refers to them is revalidated every time. */
const LASTING = 'public, max-age=31536000, immutable'
const ASKED = 'no-cache'

/** `folder` is the bundle; null serves none. */
export function registerConsolePage(app: FastifyInstance, folder: string | null): void {
  if (folder === null) {
    app.get('/', async (_, reply) =>
      reply
        .headers({ 'content-type': 'text/plain; charset=utf-8', ...PAGE_HEADERS })
        .send('Assay runs here without its console. See /docs for the API.\n'),
    )
    return
  }
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    const type = TYPES[extname(entry.name)]
    if (type === undefined) throw new Error(`${path} of the console has a type that is not served`)
    const plain = readFileSync(file)
    const packed = gzipSync(plain)
    const headers = {
      'content-type': type,
      'cache-control': path.startsWith('/assets/') ? LASTING : ASKED,
      vary: 'accept-encoding',
      ...PAGE_HEADERS,
    }
    app.get(path === '/index.html' ? '/' : path, async (request, reply) =>
      /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
        ? reply.headers({ ...headers, 'content-encoding': 'gzip' }).send(packed)
        : reply.headers(headers).send(plain),
    )
  }
}
