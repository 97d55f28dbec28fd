#!/usr/bin/env node
/**
 * What `npm start` and `npx assay` run. Plain JavaScript that any Node can read, so that one too old for the rest is
 * told so in a line instead of by a stack of errors.
 */
import { mkdirSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST = 24

const major = Number(process.versions.node.split('.')[0])
if (major < OLDEST) {
  console.error(
    `assay: Node ${OLDEST} or newer is needed and this is ${process.versions.node}. On Linux x64 and arm64 \`npm install\` brings it (not with --omit=optional); elsewhere install it from your system or nodejs.org.`,
  )
  process.exitCode = 1
} else {
  if (process.env['NODE_COMPILE_CACHE'] === undefined) keepCompiled()
  await import('./assay.ts')
}

/** What was compiled once is kept: commands answer in a third of the time, and every thread of the service starts in one. */
function keepCompiled() {
  const folder = fileURLToPath(new URL('../../.cache/compiled', import.meta.url))
  try {
    mkdirSync(folder, { recursive: true })
  } catch {
    // Installed by somebody else: it works without.
    return
  }
  // Threads do not inherit the call, but the environment.
  process.env['NODE_COMPILE_CACHE'] = folder
  module.enableCompileCache(folder)
}
