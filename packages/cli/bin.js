#!/usr/bin/env node
/**
 * The program behind `npm start` and `npx assay`. Plain JavaScript that an older Node can read too: it hands over to
 * the Node that `npm install` brought, or reports in one line that there is none.
 */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST = 24
/**
 * Heaps of glibc's malloc in a process that runs for long. By itself it makes up to eight a core for all the threads, and
 * returns little of them (docs/CAPACITY.md, Memory).
 */
const MALLOC_ARENAS = '2'
const LONG_RUNNING = ['serve', 'start']

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
  limitMalloc()
  if (process.env['NODE_COMPILE_CACHE'] === undefined) keepCompiled()
  await import('./assay.ts')
}

/** The newer Node among the optional packages of this platform, or null. */
function installedNode() {
  try {
    const node = module
      .createRequire(import.meta.url)
      .resolve(`node-${process.platform}-${process.arch}/bin/node`)
    // Never this Node itself: a wrongly reported version must not start processes endlessly.
    return node === process.execPath ? null : node
  } catch {
    return null
  }
}

/** Runs the same command with that Node and shares its terminal, signals and exit code. */
function handOver(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  // Ctrl-C reaches the whole process group; signals sent to this process alone are passed on.
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

/** malloc reads its limits once, at the start of a process: this one replaces itself, with the same id. */
function limitMalloc() {
  const { argv, env, execArgv, execPath, platform } = process
  if (platform !== 'linux' || env['MALLOC_ARENA_MAX'] !== undefined) return
  if (!LONG_RUNNING.includes(argv[2] ?? '')) return
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], {
    ...env,
    MALLOC_ARENA_MAX: MALLOC_ARENAS,
  })
}

/**
 * Keeps compiled code on disk: commands answer in a third of the time, and each thread of the service starts in a
 * third.
 */
function keepCompiled() {
  const folder = fileURLToPath(new URL('../../.cache/compiled', import.meta.url))
  try {
    mkdirSync(folder, { recursive: true })
  } catch {
    // Installed by another user: the cache is optional.
    return
  }
  // Threads do not inherit the call, but they do inherit the environment.
  process.env['NODE_COMPILE_CACHE'] = folder
  module.enableCompileCache(folder)
}
