/** The moments at which a process is killed, by name: each one a statement that both databases know. */
import type { FailPoint } from './failPoint.ts'

const REORG = "finality = 'orphaned'"

/** Inside the commit of a reorganisation, and right after it. */
export const REORG_POINTS: Readonly<Record<string, FailPoint>> = {
  'reorg: its first orphan': { within: REORG, at: REORG, when: 'before' },
  'reorg: events orphaned': { within: REORG, at: REORG, when: 'after' },
  'reorg: events of the branch': { within: REORG, at: 'INSERT INTO pool_event', when: 'after' },
  'reorg: sequences taken': { within: REORG, at: 'UPDATE head', when: 'after' },
  'reorg: records appended': { within: REORG, at: 'INSERT INTO log', when: 'after' },
  'reorg: before its commit': { within: REORG, at: 'COMMIT', when: 'before' },
  'reorg: after its commit': { within: REORG, at: 'COMMIT', when: 'after' },
}

export const COMMIT_POINTS: Readonly<Record<string, FailPoint>> = {
  'before commit': { within: 'INSERT INTO log', at: 'COMMIT', when: 'before' },
  'after commit, before publish': { within: 'INSERT INTO log', at: 'COMMIT', when: 'after' },
}

export const PRUNE_POINTS: Readonly<Record<string, FailPoint>> = {
  'mid-prune, before a step': { within: 'DELETE FROM log', at: 'DELETE FROM log', nth: 2, when: 'before' },
  'mid-prune, after a step': { within: 'DELETE FROM log', at: 'DELETE FROM log', nth: 2, when: 'after' },
}

/** `CREATE TABLE position` stands in the middle of the first migration, `CREATE TABLE token_price` in the second. */
export const MIGRATION_POINTS: Readonly<Record<string, FailPoint>> = {
  'mid-migration, the first': { within: 'CREATE TABLE position', at: 'COMMIT', when: 'before' },
  'mid-migration, the second': {
    within: 'CREATE TABLE token_price',
    at: 'CREATE TABLE token_price',
    when: 'after',
  },
  'mid-migration, between two': { within: 'CREATE TABLE token_price', at: 'COMMIT', when: 'after' },
}
