#!/usr/bin/env node
/**
 * What `npm start` and `npx assay` run. Plain JavaScript that an older Node can read too: it hands over to the Node that
 * `npm install` brought, or says in one line that there is none.
 */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST = 24

const major = Number(process.versions.node.split('.')[0])
if (major < OLDEST) {
  const installed = installedNode()
  if (installed === null) {
    console.error(
      `assay: Node ${OLDEST} or newer is needed and this is ${process.versions.node}. On Linux x64 and arm64 \`npm install\` brings it (not with --omit=optional); elsewhere install it from your system or nodejs.org.`,
    )
    process.exitCode = 1
  } else handOver(installed)
} else {
  if (process.env['NODE_COMPILE_CACHE'] === undefined) keepCompiled()
  await import('./assay.ts')
}

/** The newer Node among the optional packages of this platform, or null. */
function installedNode() {
  try {
    const node = module
      .createRequire(import.meta.url)
      .resolve(`node-${process.platform}-${process.arch}/bin/node`)
    // Never itself: a version that is reported wrongly must not start processes without end.
    return node === process.execPath ? null : node
  } catch {
    return null
  }
}

/** Runs the same command with that Node. Its terminal, its signals and its exit code are this process's own. */
function handOver(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  // Ctrl-C reaches the whole group by itself; what is sent to this process alone is passed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  child.once('error', failure => {
    console.error(`assay: ${node} cannot be run (${failure.message}); run \`npm install\` again`)
    process.exitCode = 1
  })
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
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
