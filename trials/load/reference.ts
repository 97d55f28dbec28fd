/**
 * The demand scaled in the tables of docs/CAPACITY.md, and the planned utilisation of a node. The demand is invented.
 */
export const REFERENCE = { swaps: 100, quotes: 1000, sockets: 500 }
/** The planned utilisation of a node, which leaves room for bursts. */
export const FULL = 0.7
/** Connections that one API node serves. */
export const PLACES = 2000
/** In the scaled-out form. Each node follows the whole log. */
export const API_NODES = 2
