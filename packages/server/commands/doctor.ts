/** Checks configured endpoints, for the command line: in full, and before a start. */
export type { Check } from '../doctor/check.ts'
export { diagnose, type Diagnosis } from '../doctor/doctor.ts'
export { preflight } from '../doctor/preflight.ts'
