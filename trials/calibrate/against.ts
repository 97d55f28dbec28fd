/**
 * The same markets on the engine of another commit: a checkout of that commit in a temporary folder, with this
 * calibration in it.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const HERE = resolve(import.meta.dirname, '../..')

/** Files of the engine that the calibration loads, and where an older engine keeps their content. */
const MOVED: Readonly<Record<string, string>> = { 'amm/families.ts': './adapters.ts' }

export type Other = { readonly lives: typeof import('./lives.ts'); readonly remove: () => void }

export async function otherEngine(ref: string): Promise<Other> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-calibrate-'))
  const root = join(folder, 'tree')
  const git = (...words: string[]) => execFileSync('git', ['-C', HERE, ...words], { stdio: 'ignore' })
  git('worktree', 'add', '--detach', root, ref)
  const remove = () => {
    git('worktree', 'remove', '--force', root)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'))
    cpSync(import.meta.dirname, join(root, 'trials/calibrate'), { recursive: true })
    for (const [now, before] of Object.entries(MOVED)) {
      const file = join(root, 'packages/engine', now)
      if (!existsSync(file)) writeFileSync(file, `export * from '${before}'\n`)
    }
    const lives = (await import(join(root, 'trials/calibrate/lives.ts'))) as typeof import('./lives.ts')
    return { lives, remove }
  } catch (failure) {
    remove()
    throw failure
  }
}
