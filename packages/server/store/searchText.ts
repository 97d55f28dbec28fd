/** Search of tokens by symbol and name. */

/** Only the best matches are ranked by depth: a short text matches half of all tokens. */
export const MOST_MATCHES = 200

/** A LIKE pattern, with a backslash as its escape, that matches the text anywhere. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
