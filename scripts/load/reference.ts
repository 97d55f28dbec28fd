/** The demand that the tables of docs/CAPACITY.md scale, and how full a node is planned to be. The demand is made up. */
export const REFERENCE = { swaps: 100, quotes: 1000, sockets: 500 }
/** A node is planned for no more, so that a burst finds room. */
export const FULL = 0.7
/** Connections that one API node serves. */
export const PLACES = 2000
/** In the scaled-out form. Each follows the whole log. */
export const API_NODES = 2
