/** The calibration as a picture: for each score the median, p90 and p99 of the error, on a logarithmic scale. */
import type { Row } from './statistics.ts'

const SIZE = { width: 880, height: 420 } as const
const PLOT = { left: 70, right: 860, top: 56, bottom: 350 } as const
/** Basis points at the ends of the scale; values outside are drawn at its ends. */
const SCALE = { least: 1, most: 10_000 } as const
const GRID = [
  [1, '0.01%'],
  [10, '0.1%'],
  [100, '1%'],
  [1000, '10%'],
  [10_000, '100%'],
] as const
const SERIES = [
  { of: 'exit', className: 'exit', shift: -11, label: 'against what a seller of 1,000 USD gets' },
  { of: 'fair', className: 'fair', shift: 11, label: 'against the fair value' },
] as const
/** Both themes: a reader's own setting picks the colours. */
const STYLE = `text{font:14px system-ui,sans-serif;fill:#1c2330}.s{font-size:12px;fill:#5a6577}.bg{fill:#fff}.grid{stroke:#d5dbe6}.exit{stroke:#2459b3;fill:#2459b3}.fair{stroke:#c08a1e;fill:#c08a1e}.range{stroke-width:3;stroke-linecap:round}@media (prefers-color-scheme:dark){text{fill:#e6eaf2}.s{fill:#9aa6ba}.bg{fill:#0f141c}.grid{stroke:#2b3444}.exit{stroke:#7aa9f7;fill:#7aa9f7}.fair{stroke:#e3b35a;fill:#e3b35a}}`

export function pictureOf(rows: readonly Row[], title: string): string {
  const step = (PLOT.right - PLOT.left) / rows.length
  const parts = [
    `<rect class="bg" width="${SIZE.width}" height="${SIZE.height}"/>`,
    `<text x="${PLOT.left}" y="26">${title}</text>`,
    ...GRID.flatMap(([bps, label]) => [
      `<path class="grid" d="M${PLOT.left} ${at(bps)}H${PLOT.right}"/>`,
      `<text class="s" x="${PLOT.left - 8}" y="${at(bps) + 4}" text-anchor="end">${label}</text>`,
    ]),
    ...rows.flatMap((row, n) => {
      const x = Math.round(PLOT.left + (n + 0.5) * step)
      const label = `<text x="${x}" y="${PLOT.bottom + 22}" text-anchor="middle">${row.score}</text>`
      if (row.samples === 0)
        return [label, `<text class="s" x="${x}" y="${PLOT.bottom - 10}" text-anchor="middle">none</text>`]
      return [label, ...SERIES.flatMap(({ of, className, shift }) => range(row[of], className, x + shift))]
    }),
    ...SERIES.map(({ className, label }, n) => legend(className, label, PLOT.left + n * 330)),
    `<text class="s" x="${PLOT.right}" y="${SIZE.height - 14}" text-anchor="end">dot: median · bar: p90 · line: p99</text>`,
  ]
  const label = 'Error of the published price by score'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${label}"><style>${STYLE}</style>${parts.join('')}</svg>\n`
}

function range([p50, p90, p99]: readonly [number, number, number], className: string, x: number): string[] {
  return [
    `<path class="${className} range" d="M${x} ${at(p50)}V${at(p99)}"/>`,
    `<path class="${className} range" d="M${x - 7} ${at(p90)}H${x + 7}"/>`,
    `<circle class="${className}" cx="${x}" cy="${at(p50)}" r="5"/>`,
  ]
}

const legend = (className: string, label: string, x: number): string =>
  `<circle class="${className}" cx="${x + 6}" cy="${SIZE.height - 18}" r="5"/><text class="s" x="${x + 18}" y="${SIZE.height - 14}">${label}</text>`

function at(bps: number): number {
  const within = Math.min(SCALE.most, Math.max(SCALE.least, bps))
  const share = Math.log(within / SCALE.least) / Math.log(SCALE.most / SCALE.least)
  return Math.round(PLOT.bottom - share * (PLOT.bottom - PLOT.top))
}
