/**
 * The files a published package needs: every module reachable from its entries, and every file that one of them names
 * by a relative path (a thread's module, a page, compiled bytes).
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Names of our packages as imported by sources, and the module of each name. */
export type Names = ReadonlyMap<string, string>

/** Quoted paths, as in imports and URLs of modules. */
export const QUOTED = /(['"`])((?:\.{1,2}\/|@assay\/)[^'"`\s$]*)\1/g
const STATIC_IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?from\s+)?['"]([^'"]+)['"]/gm

/** Whole folders would include tests and tools, so only files are followed. */
const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

export function resolveFrom(file: string, target: string, names: Names): string | null {
  const path = names.get(target) ?? (target.startsWith('.') ? join(dirname(file), target) : null)
  return path !== null && isFile(path) ? path : null
}

/** A leaf is part of the package, but its imports are not. */
export function reachedFrom(
  entries: readonly string[],
  names: Names,
  leaves: ReadonlySet<string>,
): Set<string> {
  const reached = new Set<string>()
  const open = [...entries]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    if (!/\.[jt]s$/.test(file) || leaves.has(file)) continue
    for (const [, , target = ''] of withoutTypeImports(file).matchAll(QUOTED)) {
      const next = resolveFrom(file, target, names)
      if (next !== null) open.push(next)
    }
  }
  return reached
}

/** Modules that cannot be loaded without `missing`, because they or their imports load it statically. */
export function needing(files: ReadonlySet<string>, missing: string, names: Names): Set<string> {
  const needs = new Set([missing])
  for (let size = 0; size !== needs.size; ) {
    size = needs.size
    for (const file of files) {
      if (!file.endsWith('.ts') || needs.has(file)) continue
      const imports = [...readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)]
      if (imports.some(([, target = '']) => needs.has(resolveFrom(file, target, names) ?? '')))
        needs.add(file)
    }
  }
  return needs
}

/** Types are absent from the package; a module imported only for types is not needed. */
const withoutTypeImports = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/^(?:import|export)\s+type\s[^'"]*?from\s+['"][^'"]+['"]/gm, '')

/** From one file to another, as an import writes it. */
export function specifier(from: string, to: string): string {
  const path = relative(dirname(from), to).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}
