/** The rules by which the browser recomputes a quote: a file of its own in the bundle, loaded when it is asked for. */
export { verifyOffline } from '@assay/sdk'
