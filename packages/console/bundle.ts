/** `node bundle.ts FOLDER`: builds the console's bundle into that folder, once (build.ts). */
import { join } from 'node:path'
import { build } from 'vite'
import { plainLazyImport, steppedPlot } from './lean.ts'

const HERE = import.meta.dirname

/** The builders of the wire's schemas (packages/sdk/wire/schema.ts): calls without side effects. */
const SCHEMA_BUILDERS = [
  'object',
  'strictObject',
  'optional',
  'map',
  'anyObject',
  'array',
  'string',
  'pattern',
  'enumeration',
  'known',
  'integer',
  'number',
  'boolean',
  'literal',
  'nullable',
  'union',
  'named',
  'reference',
  'describe',
  'envelope',
  'of',
]

await build({
  configFile: false,
  root: HERE,
  base: './',
  logLevel: 'warn',
  publicDir: join(HERE, 'public'),
  plugins: [steppedPlot(), plainLazyImport()],
  // Children as arguments and not as a property: the same elements in fewer bytes.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'createElement', pragmaFrag: 'Fragment' },
    jsxInject: "import { createElement, Fragment } from 'preact'",
  },
  build: {
    outDir: process.argv[2] as string,
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Nothing inlined: the content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      treeshake: {
        moduleSideEffects: id => id.startsWith(HERE) || id.endsWith('.css'),
        manualPureFunctions: SCHEMA_BUILDERS,
        // Schemas are spread into one another; reading a property of ours never has side effects.
        propertyReadSideEffects: false,
      },
    },
  },
})
