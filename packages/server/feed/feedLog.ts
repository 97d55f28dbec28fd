/** Where the feed says what it noticed. */
export type FeedLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void
