/** The same markets on the engine of another commit: a checkout of it in a temporary folder, with this calibration in it. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const HERE = resolve(import.meta.dirname, '../..')

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
    cpSync(import.meta.dirname, join(root, 'scripts/calibrate'), { recursive: true })
    const lives = (await import(join(root, 'scripts/calibrate/lives.ts'))) as typeof import('./lives.ts')
    return { lives, remove }
  } catch (failure) {
    remove()
    throw failure
  }
}
