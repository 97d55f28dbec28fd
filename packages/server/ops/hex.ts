/** Bytes as text: `0x` and hex digits, forty of them for an address. */
export type Hex = `0x${string}`
export type Address = Hex

/** False for a longer id, such as that of a pool inside a manager. */
export const isAddress = (hex: Hex): boolean => hex.length === 42
