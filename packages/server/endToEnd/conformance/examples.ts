/**
 * The examples of the OpenAPI document are answers of a service: a run of the conformance tests with
 * ASSAY_WRITE_EXAMPLES=1 rewrites them. Operations that answer with a secret are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../../http/openapi/examples.json', import.meta.url)
const SECRET = new Set(['issueKey', 'rollKey', 'createSession', 'createWebhook', 'rotateWebhook'])
/** Successful answers only: an error message depends on the fault. */
const SHOWN = ['request', '200', '202']

export function writeExamples(answers: ReadonlyMap<string, ReadonlyMap<string, unknown>>): void {
  if (process.env['ASSAY_WRITE_EXAMPLES'] !== '1') return
  const known = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [id, byStatus] of answers) {
    if (SECRET.has(id)) continue
    const shown = SHOWN.filter(status => byStatus.has(status)).map(status => [status, byStatus.get(status)])
    if (shown.length > 0) known[id] = { ...known[id], ...(Object.fromEntries(shown) as object) }
  }
  const sorted = Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 1)}\n`)
}
