/** Bytes as text: `0x` and lower-case digits. */
export type Hex = `0x${string}`
