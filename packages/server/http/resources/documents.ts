/**
 * /openapi.json, /asyncapi.json, /llms.txt and /docs: the API for machines and for people. Nothing is loaded from other
 * hosts.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { asyncApiDocument } from '../asyncapi/document.ts'
import { openApiDocument } from '../openapi/document.ts'
import { PAGE_HEADERS } from './consolePage.ts'
import { JSON_TYPE } from '../plumbing/request.ts'

const FILES = [
  ['/docs', '../page/docs.html', 'text/html; charset=utf-8'],
  ['/docs.js', '../page/docs.js', 'text/javascript; charset=utf-8'],
  ['/docsParts.js', '../page/docsParts.js', 'text/javascript; charset=utf-8'],
  ['/tryIt.js', '../page/tryIt.js', 'text/javascript; charset=utf-8'],
  ['/docs.css', '../page/docs.css', 'text/css; charset=utf-8'],
  ['/llms.txt', '../page/llms.txt', 'text/plain; charset=utf-8'],
] as const

export function registerDocuments(app: FastifyInstance): void {
  for (const [path, document] of [
    ['/openapi.json', openApiDocument()],
    ['/asyncapi.json', asyncApiDocument()],
  ] as const) {
    const body = Buffer.from(JSON.stringify(document))
    app.get(path, async (_, reply) => reply.header('content-type', JSON_TYPE).send(body))
  }
  for (const [path, file, type] of FILES) {
    const body = readFileSync(new URL(file, import.meta.url))
    app.get(path, async (_, reply) => reply.headers({ 'content-type': type, ...PAGE_HEADERS }).send(body))
  }
}
