/**
 * Runs after `npm install`: links the Node 24 that came as a package to `node_modules/.bin/node`, where the npm scripts
 * find it first. npm 11 makes the link itself; npm 10, which Node 20 and 22 come with, leaves it out when it skips the
 * package for the other processor. Plain JavaScript, because an older Node runs it.
 */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const name = `node-${process.platform}-${process.arch}`
const link = join(modules, '.bin/node')

if (existsSync(join(modules, name, 'bin/node')) && !existsSync(link)) {
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(`../${name}/bin/node`, link)
}
