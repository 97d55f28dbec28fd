/**
 * `npm run build -w packages/sdk [-- FOLDER]`: builds the package as customers install it: plain JavaScript modules
 * with their types, including the part of the engine that `verify` needs, without dependencies.
 *
 * Modules stay separate, so that a bundler takes only what is imported: a client without `verify` contains no engine.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const HERE = import.meta.dirname
const ROOT = resolve(HERE, '../..')
/** The package name in this repository, and on npm, where we do not own the scope. */
const HERE_NAME = '@assay/sdk'
const PUBLISHED_NAME = 'assay-sdk'
const RULES = '@assay/engine/rules'
const IMPORT = /((?:from|import)\s*\(?\s*)(['"])([^'"\n]+)\2/g

/** Empties the folder, then fills it. */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const project = join(HERE, 'tsconfig.build.json')
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', folder], { stdio: 'inherit' })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) link(folder, join(entry.parentPath, entry.name))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  const readme = readFileSync(join(HERE, 'README.md'), 'utf8').replaceAll(HERE_NAME, PUBLISHED_NAME)
  writeFileSync(join(folder, 'README.md'), readme)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/**
 * Types import sources, and both import the engine by its package name; the built package has neither. Fails if an
 * imported file is missing.
 */
function link(folder: string, file: string): void {
  const rules = relative(dirname(file), join(folder, 'engine/rules/index.js')).replaceAll('\\', '/')
  const text = readFileSync(file, 'utf8').replaceAll(
    IMPORT,
    (_, before: string, quote: string, from: string) => {
      const to = from === RULES ? rules : from.startsWith('.') ? from.replace(/\.ts$/, '.js') : from
      if (to.startsWith('.') && !existsSync(join(dirname(file), to)))
        throw new Error(`${relative(folder, file)} imports ${to}, which the compiler did not write.`)
      return `${before}${quote}${to}${quote}`
    },
  )
  writeFileSync(file, text)
}

function manifest(): object {
  const { version, description, license } = JSON.parse(
    readFileSync(join(HERE, 'package.json'), 'utf8'),
  ) as Record<string, string>
  const entry = (path: string) => ({ types: `./sdk/${path}.d.ts`, default: `./sdk/${path}.js` })
  return {
    name: PUBLISHED_NAME,
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=22' },
    exports: {
      '.': entry('index'),
      './wire': entry('wire/index'),
      './verify': entry('verify/verify'),
      './package.json': './package.json',
    },
  }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(HERE, 'dist'))
  buildPackage(folder)
  console.log(
    `The package is in ${relative(process.cwd(), folder)}; publish it with \`npm publish\` from there.`,
  )
}
