/** The credentials of a writer in this process. */
export type Claimed = { readonly generation: number; readonly isShared: boolean }
