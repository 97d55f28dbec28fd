/** What a writer of this process may commit with. */
export type Claimed = { readonly generation: number; readonly isShared: boolean }
