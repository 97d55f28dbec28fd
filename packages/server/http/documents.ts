/** /openapi.json and /docs: what the API is, for machines and for people. Nothing is loaded from elsewhere. */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { openApiDocument } from './openapi/document.ts'
import { PAGE_HEADERS } from './page.ts'
import { JSON_TYPE } from './request.ts'

const FILES = [
  ['/docs', 'page/docs.html', 'text/html; charset=utf-8'],
  ['/docs.js', 'page/docs.js', 'text/javascript; charset=utf-8'],
  ['/docs.css', 'page/docs.css', 'text/css; charset=utf-8'],
] as const

export function registerDocuments(app: FastifyInstance): void {
  const document = Buffer.from(JSON.stringify(openApiDocument()))
  app.get('/openapi.json', async (_, reply) => reply.header('content-type', JSON_TYPE).send(document))
  for (const [path, file, type] of FILES) {
    const body = readFileSync(new URL(file, import.meta.url))
    app.get(path, async (_, reply) => reply.headers({ 'content-type': type, ...PAGE_HEADERS }).send(body))
  }
}
