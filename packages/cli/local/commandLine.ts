/**
 * How this program was started, so that the commands we print can be pasted: from a checkout with npm, or as a
 * package.
 */

/** npm sets the name of the script it runs; in a checkout that is `start` or `assay`. */
const isCheckout = (): boolean => /^(start|assay)$/.test(process.env['npm_lifecycle_event'] ?? '')

export const assayCommand = (): string => (isCheckout() ? 'npm run assay --' : 'npx assay')
export const startCommandLine = (): string => (isCheckout() ? 'npm start' : 'npx assay start')
