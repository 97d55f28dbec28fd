/** The rules with which the browser recomputes a quote: a separate file of the bundle, loaded on demand. */
export { verifyOffline } from '@assay/sdk'
