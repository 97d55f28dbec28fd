/** Bytes as text: `0x` and hex digits, forty of them for an address. */
export type Hex = `0x${string}`
export type Address = Hex
