/** Captures blocks, for the command line. */
export { captureBlocks, type CaptureProgress } from '../capture/capture.ts'
