/** Every cache for speed can be switched off in tests: the engine then gives the same results, more slowly. */
export const memory = { isOn: true }
