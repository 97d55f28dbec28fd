/**
 * `npm run pack [-- FOLDER]`: builds the packages `assay` and `assay-server` as customers install them: plain
 * JavaScript, the console already built, and only the dependencies that the service needs to run.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { buildConsole } from '../packages/console/build.ts'
import { moduleNames, packageManifest, PUBLISHED, type Published, ROOT } from './pack/packages.ts'
import { type Names, needing, QUOTED, reachedFrom, resolveFrom, specifier } from './pack/sources.ts'

const ENTRIES = ['packages/cli/bin.js', 'packages/cli/assay.ts'].map(file => join(ROOT, file))
const WORLD = join(ROOT, 'packages/world/index.ts')
const CONSOLE = join(ROOT, 'packages/console/build.ts')
const SOURCES = join(ROOT, 'packages')
const EXIT_MODULE = join(SOURCES, 'cli/exit.js')

const BUILT_CONSOLE = `/** The console as it was when this package was built. */
import { fileURLToPath } from 'node:url'

export const buildConsole = async () => fileURLToPath(new URL('./bundle', import.meta.url))
`
const noWorld = (exit: string): string => `/** The local world is not in this package. */
import { EXIT, Failure } from '${exit}'

throw new Failure(
  'the local world comes with the package assay and not with assay-server. Install assay, or name a node: ASSAY_RPC_1=https://… npx assay start',
  EXIT.misused,
)
`

/** Fills a folder for each package below \`folder\`, and empties it first. */
export async function buildPackages(folder: string, only: readonly Published[] = PUBLISHED): Promise<void> {
  const bundle = await buildConsole(line => console.error(line))
  for (const each of only) {
    const to = join(folder, each.name)
    rmSync(to, { recursive: true, force: true })
    writeModules(to, each)
    cpSync(bundle, join(to, 'console/bundle'), { recursive: true })
    writeFileSync(join(to, 'package.json'), `${JSON.stringify(packageManifest(each), null, 2)}\n`)
    for (const file of ['LICENSE', 'README.md']) copyFileSync(join(ROOT, file), join(to, file))
  }
}

function writeModules(to: string, { hasWorld }: Published): void {
  const names = moduleNames()
  const place = (file: string): string => join(to, relative(SOURCES, file).replace(/\.ts$/, '.js'))
  const absent = hasWorld ? new Set<string>() : needingWorld(names)
  for (const file of reachedFrom(ENTRIES, names, new Set([...absent, CONSOLE]))) {
    mkdirSync(dirname(place(file)), { recursive: true })
    if (file === CONSOLE) writeFileSync(place(file), BUILT_CONSOLE)
    else if (absent.has(file)) writeFileSync(place(file), noWorld(specifier(file, EXIT_MODULE)))
    else if (!/\.[jt]s$/.test(file)) copyFileSync(file, place(file))
    else writeFileSync(place(file), compiled(file, names))
  }
}

function needingWorld(names: Names): Set<string> {
  const absent = needing(reachedFrom(ENTRIES, names, new Set([CONSOLE])), WORLD, names)
  const lost = ENTRIES.find(entry => absent.has(entry))
  if (lost !== undefined) throw new Error(`${relative(ROOT, lost)} cannot be loaded without the local world`)
  return absent
}

/** Without types, and with imports of modules by their names in the package. */
function compiled(file: string, names: Names): string {
  const text = readFileSync(file, 'utf8')
  const plain = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
  return plain.replaceAll(QUOTED, (whole, quote: string, target: string) => {
    const found = resolveFrom(file, target, names)
    return found === null ? whole : `${quote}${specifier(file, found).replace(/\.ts$/, '.js')}${quote}`
  })
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(ROOT, '.cache/packages'))
  await buildPackages(folder)
  const names = PUBLISHED.map(({ name }) => name).join(' and ')
  console.log(
    `${names} are in ${relative(process.cwd(), folder)}; publish each with \`npm publish\` from its folder.`,
  )
}
