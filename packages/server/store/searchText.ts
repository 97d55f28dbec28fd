/** How tokens are found by what they call themselves. */

/** Of so many that match, the best matches, the depth is looked at: a short text matches half of all tokens. */
export const MOST_MATCHES = 200

/** A pattern for LIKE with a backslash as its escape, where the text may stand anywhere. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
