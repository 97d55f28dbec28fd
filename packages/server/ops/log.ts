/** Structured log lines (pino underneath). Fields are plain; a Secret among them prints as `[redacted]`. */
import pino from 'pino'

export type Log = {
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Lines go to standard error, so that the output of a command stays readable. */
export function createLog(level: LogLevel = 'info'): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  )
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  }
}
