#!/usr/bin/env node
/**
 * The program behind `npm start` and `npx assay`. Plain JavaScript that an older Node can read too: it hands over to
 * the Node that `npm install` brought, or reports in one line that there is none.
 */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'

const OLDEST = 24
/**
 * Heaps of glibc's malloc in a process that runs for long. By itself it makes up to eight a core for all the threads, and
 * returns little of them (docs/CAPACITY.md, Memory).
 */
const MALLOC_ARENAS = '2'
/**
 * The young generation of the main thread: left to itself it grows to 128 MiB with subscribers, and stays there. The
 * chains' threads keep V8's default, because a smaller one costs time a swap.
 */
const YOUNG_OPTION = '--max-semi-space-size'
const YOUNG_OF_MAIN_THREAD = `${YOUNG_OPTION}=16`
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
  limitMemory()
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

/** malloc and V8 read their limits once, at the start of a process: this one replaces itself, with the same id. */
function limitMemory() {
  const { argv, env, execArgv, execPath, platform } = process
  if (platform === 'win32' || !LONG_RUNNING.includes(argv[2] ?? '')) return
  const options = [...execArgv, env['NODE_OPTIONS'] ?? ''].join(' ').replaceAll('_', '-')
  const hasYoung = options.includes(YOUNG_OPTION)
  const hasArenas = platform !== 'linux' || env['MALLOC_ARENA_MAX'] !== undefined
  if (!hasYoung || !hasArenas)
    process.execve(
      execPath,
      [execPath, ...execArgv, ...(hasYoung ? [] : [YOUNG_OF_MAIN_THREAD]), ...argv.slice(1)],
      hasArenas ? env : { ...env, MALLOC_ARENA_MAX: MALLOC_ARENAS },
    )
  // Threads that start from now on have the default again.
  if (execArgv.includes(YOUNG_OF_MAIN_THREAD)) v8.setFlagsFromString(`${YOUNG_OPTION}=0`)
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
