/** All that is remembered for speed can be turned off, for tests: the engine then says the same, slower. */
export const memory = { isOn: true }
