/** The browser that `ASSAY_CHROMIUM` names; null for the one of the npm registry, which is for x64 alone. */
export function namedBrowser(): string | null {
  const named = process.env['ASSAY_CHROMIUM']
  if (named !== undefined && named !== '') return named
  if (process.arch === 'x64') return null
  throw new Error(
    `no browser for ${process.platform} ${process.arch} in the npm registry. Name a Chromium in ASSAY_CHROMIUM`,
  )
}
