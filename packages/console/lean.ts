/**
 * Keeps unused parts of libraries out of the bundle. A library version with different source text must fail the build
 * or its test, so that the bundle cannot grow unnoticed.
 */
import type { Plugin } from 'vite'

/**
 * Features that our only chart switches off or leaves at their defaults, replaced by constants, so that the code
 * depending on them is removed.
 */
const CHART_IS: readonly (readonly [asked: string, known: string])[] = [
  ['const showLegend = legend.show;', 'const showLegend = false;'],
  ['if (legend.show && legend.live && shouldSetLegend)', 'if (false)'],
  ['self.setLegend = setLegend;', ''],
  ['const cursorFocus = focus.prox >= 0;', 'const cursorFocus = false;'],
  ['const mode = self.mode;', 'const mode = 1;'],
  ['const mode = u.mode;', 'const mode = 1;'],
  // Its axes format their own texts, so date names are not needed.
  ['const _fmtDate = (opts.fmtDate || fmtDate);', 'const _fmtDate = null;'],
  [
    'const _timeAxisVals   = timeAxisVals(_tzDate, timeAxisStamps((ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS), _fmtDate));',
    'const _timeAxisVals = null;',
  ],
  [
    'const _timeSeriesVal  = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));',
    'const _timeSeriesVal = null;',
  ],
  [
    's.value = isTime ? (isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal) : sv || numSeriesVal;',
    's.value = sv || numSeriesVal;',
  ],
  ['timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) :', 'null :'],
  ['timeAxisVal(_tzDate, av) :', 'null :'],
  ['\t\t_timeAxisStamps,\n', '\t\tnull,\n'],
  // A single chart has no other to synchronise with.
  ['const syncKey = syncOpts.key;', 'const syncKey = null;'],
  ['const sync = _sync(syncKey);', ''],
  ['if (syncOpts.filters.pub(type, src, x, y, w, h, i))\n\t\t\tsync.pub(type, src, x, y, w, h, i);', ''],
  ['sync.sub(self);', ''],
  ['sync.unsub(self);', ''],
  // Its scales are linear, never logarithmic.
  ['(sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY)', 'snapNumY'],
  ['sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits', 'numAxisSplits'],
  [
    'sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1',
    'retArg1',
  ],
  ['[_min, _max] = rangeLog(_min, _min, scaleX.log, false);', '_max = _min;'],
  ['[_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);', '_max = _min;'],
  ['(sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX)', 'snapNumX'],
  // One line, so there is no band between two.
  ['flags != 0 && bands.forEach((b, bi) => {', 'false && bands.forEach((b, bi) => {'],
  // Features to change a chart later, which ours never uses.
  ...['batch', 'addSeries', 'delSeries', 'addBand', 'setBand', 'delBand', 'pub'].map(
    name => [`self.${name} = ${name};`, ''] as const,
  ),
  // Some browsers report an invalid language name, and the page must not stay blank because of it.
  ["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "new Intl.NumberFormat('en-US')"],
]

/**
 * From here to its end, uPlot attaches every kind of line and tool to its constructor, so none of it counts as
 * unused.
 */
const EXTRAS = 'uPlot.assign = assign;'

/** uPlot with a stepped line, without legend, series focus and scatter plots. */
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

/** Vite preloads the styles and imports of a lazy file; ours is one file without either. */
export const plainLazyImport = (): Plugin => ({
  name: 'assay:plain-lazy-import',
  enforce: 'pre',
  load: {
    filter: { id: /vite\/preload-helper\.js$/ },
    handler: () => 'export const __vitePreload = load => load()',
  },
})
