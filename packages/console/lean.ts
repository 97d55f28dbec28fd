/**
 * What libraries bring along and no page of ours uses, kept out of the bundle. A version that is written otherwise must fail
 * the build or its test: the bundle is not to grow unseen.
 */
import type { Plugin } from 'vite'

/** What our one chart switches off or leaves as it comes, said as constants: whatever hangs on them falls away. */
const CHART_IS: readonly (readonly [asked: string, known: string])[] = [
  ['const showLegend = legend.show;', 'const showLegend = false;'],
  ['const cursorFocus = focus.prox >= 0;', 'const cursorFocus = false;'],
  ['const mode = self.mode;', 'const mode = 1;'],
  ['const mode = u.mode;', 'const mode = 1;'],
  // Some browsers call their language by a name that is none, and a page is not to stay blank for that.
  ["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "new Intl.NumberFormat('en-US')"],
]

/** From here to its end uPlot hangs every kind of line and tool on its constructor, where none of it counts as unused. */
const EXTRAS = 'uPlot.assign = assign;'

/** uPlot with a stepped line and without legend, series to focus on, and scatter plots. */
export const steppedPlot = (): Plugin => ({
  name: 'assay:stepped-plot',
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler(code) {
      const missing = [EXTRAS, ...CHART_IS.map(([asked]) => asked)].filter(line => !code.includes(line))
      if (missing.length > 0) throw new Error(`uPlot has no line ${missing.join(' and none ')}`)
      const used = CHART_IS.reduce(
        (text, [asked, known]) => text.replace(asked, known),
        code.slice(0, code.indexOf(EXTRAS)),
      )
      return { code: `${used}uPlot.paths = { stepped };\nexport { uPlot as default };\n`, map: null }
    },
  },
})

/** Vite loads the styles and imports of a lazy file ahead of it; ours is one file without either. */
export const plainLazyImport = (): Plugin => ({
  name: 'assay:plain-lazy-import',
  enforce: 'pre',
  load: {
    filter: { id: /vite\/preload-helper\.js$/ },
    handler: () => 'export const __vitePreload = load => load()',
  },
})
