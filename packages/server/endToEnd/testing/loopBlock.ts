/**
 * Blocks the main thread of a process, where the API lives: loaded ahead of a program (`--import`), it makes SIGUSR2
 * a busy loop of so many milliseconds. The other threads of the process are unaffected.
 */
import { isMainThread } from 'node:worker_threads'

const VARIABLE = 'ASSAY_BLOCK_LOOP_MS'

/** With these, a program can be blocked. */
export const blockable = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import ${new URL('./loopBlock.ts', import.meta.url).href}`,
  [VARIABLE]: `${ms}`,
})

export function block(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

const wanted = process.env[VARIABLE]
if (wanted !== undefined && isMainThread) process.on('SIGUSR2', () => block(Number(wanted)))
