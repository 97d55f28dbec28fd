/** The 2% boundary of the specification: depth is the amount that trades inside it. */
import type { Boundary } from '../amm/adapter.ts'

export const DEPTH_BOUNDARY: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }
