/** A disk of a few megabytes: a memory file system of its own, where mounting is permitted. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = { readonly folder: string; dispose(): void }

/** The refusal when this system does not let us mount. */
export function mountSmallDisk(mebibytes: number): SmallDisk | { readonly refused: string } {
  const folder = mkdtempSync(join(tmpdir(), 'assay-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (failure) {
    rmdirSync(folder)
    return { refused: failure instanceof Error ? failure.message : String(failure) }
  }
  return {
    folder,
    dispose() {
      execFileSync('umount', [folder])
      rmdirSync(folder)
    },
  }
}
