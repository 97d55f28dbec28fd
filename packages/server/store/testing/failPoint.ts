/**
 * Kills this process at a named statement of its database, as a power cut would: loaded ahead of a program
 * (`--import`), it wraps the drivers, so the program itself is unaware of it. `ASSAY_FAIL_POINT` names the point.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

export type FailPoint = {
  /** Only a transaction in which a statement with this text has run. */
  readonly within: string
  /** The statement to die at: the `nth` that has this text. */
  readonly at: string
  readonly nth?: number
  readonly when: 'before' | 'after'
}

export const VARIABLE = 'ASSAY_FAIL_POINT'

const wanted = process.env[VARIABLE]
if (wanted !== undefined) arm(JSON.parse(wanted) as FailPoint)

function arm({ within, at, nth = 1, when }: FailPoint): void {
  let isWithin = false
  let left = nth
  const isHere = (sql: string): boolean => {
    if (sql.startsWith('BEGIN')) isWithin = false
    if (sql.includes(within)) isWithin = true
    if (!isWithin || !sql.includes(at)) return false
    left--
    return left === 0
  }
  const die = () => process.kill(process.pid, 'SIGKILL')
  const around = <Result>(sql: string, run: () => Result): Result => {
    const isLast = isHere(sql)
    if (isLast && when === 'before') die()
    const result = run()
    if (isLast) {
      if (result instanceof Promise) void result.then(die)
      else die()
    }
    return result
  }

  wrap(StatementSync.prototype, 'run', statement => (statement as StatementSync).sourceSQL, around)
  wrap(DatabaseSync.prototype, 'exec', (_, sql) => sql as string, around)
  const textOf = (_: unknown, asked: unknown) =>
    typeof asked === 'string' ? asked : ((asked as { readonly text?: string }).text ?? '')
  wrap(pg.Client.prototype, 'query', textOf, around)
}

type Method = (this: unknown, ...values: unknown[]) => unknown
type Around = (sql: string, run: () => unknown) => unknown

function wrap(
  prototype: object,
  name: string,
  sqlOf: (target: unknown, first: unknown) => string,
  around: Around,
): void {
  const methods = prototype as Record<string, Method>
  const own = methods[name] as Method
  methods[name] = function (this: unknown, ...values) {
    return around(sqlOf(this, values[0]), () => own.apply(this, values))
  }
}
