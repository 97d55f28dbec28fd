/** The names of the pool families, as used on the wire and in the configuration. */
export const FAMILIES = ['amm_v2', 'amm_v3', 'amm_v3_pancake', 'amm_algebra_v1', 'amm_v4'] as const

export type Family = typeof FAMILIES extends readonly (infer Name)[] ? Name : never

export const isFamily = (name: string): name is Family => (FAMILIES as readonly string[]).includes(name)
