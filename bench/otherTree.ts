/** Another version of this repository to compare with, and taking turns with it. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const HERE = resolve(import.meta.dirname, '..')

export type OtherTree = { readonly root: string; remove(): void }

/** A folder as it is, or a work tree of a commit. */
export const otherTree = (ref: string): OtherTree =>
  existsSync(ref) ? { root: resolve(ref), remove: () => {} } : checkout(ref)

function checkout(ref: string): OtherTree {
  const folder = mkdtempSync(join(tmpdir(), 'assay-against-'))
  const root = join(folder, 'tree')
  const git = (...words: string[]) => execFileSync('git', ['-C', HERE, ...words], { stdio: 'ignore' })
  git('worktree', 'add', '--detach', root, ref)
  linkPackages(root)
  return {
    root,
    remove() {
      git('worktree', 'remove', '--force', root)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The packages installed here, but those of the repository from the tree itself. */
function linkPackages(root: string): void {
  const [installed, own] = [join(HERE, 'node_modules'), join(root, 'node_modules')]
  mkdirSync(join(own, '@assay'), { recursive: true })
  for (const name of readdirSync(installed))
    if (name !== '@assay') symlinkSync(join(installed, name), join(own, name))
  for (const name of readdirSync(join(installed, '@assay')))
    symlinkSync(join(root, 'packages', name), join(own, '@assay', name))
}

/** The next message of a side. */
export function answer<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((done, fail) => {
    const ended = () => fail(new Error('a side ended before its turn was over'))
    child.once('exit', ended)
    child.once('message', message => {
      child.off('exit', ended)
      done(message as Message)
    })
  })
}
