/**
 * `npm run build -w packages/sdk [-- FOLDER]`: the package as a customer installs it. Plain JavaScript modules with their
 * types, the part of the engine that `verify` needs inside, and nothing to install beside it.
 *
 * Modules stay apart, so that a bundler takes only what is imported: a client without `verify` has no engine.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const HERE = import.meta.dirname
const ROOT = resolve(HERE, '../..')
/** Its name in this repository, and on npm, where the scope is not ours. */
const HERE_NAME = '@assay/sdk'
const PUBLISHED_NAME = 'assay-sdk'
const RULES = '@assay/engine/rules'
const IMPORT = /((?:from|import)\s*\(?\s*)(['"])([^'"\n]+)\2/g

/** Fills the folder, and empties it first. */
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

/** Types import sources and both import the engine by its name: here there are neither. What is imported must be there. */
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
