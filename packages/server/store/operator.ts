/** What an operator sets and reads while the service runs: consumers' limits, policies, settings, the audit trail. */
import type { AuditRow, TokenRow } from './rows.ts'

export type ConsumerRow = {
  readonly consumer: string
  /** JSON; null means the defaults. */
  readonly limits: string | null
}

export type EnrolmentClaim = {
  readonly chainId: number
  readonly tokenAddress: string
  readonly consumer: string
  readonly atMs: number
  readonly sinceMs: number
  readonly most: number
}

export type OperatorStore = {
  readConsumer(consumer: string): Promise<ConsumerRow | null>
  /** False when there is no such consumer: a consumer is created with its first key. */
  writeLimits(consumer: string, limits: string | null): Promise<boolean>
  /** The newest first; `before` is the id of the last entry of the page before. */
  readAudit(before: number | null, limit: number): Promise<readonly (AuditRow & { readonly id: number })[]>
  /** A policy is kept under its version for good: records name it. */
  writePolicy(policyVersion: string, policy: string, atMs: number): Promise<void>
  readPolicy(policyVersion: string): Promise<string | null>
  readSetting(name: string): Promise<string | null>
  /** Null forgets it. */
  writeSetting(name: string, value: string | null): Promise<void>
  /**
   * Notes that a consumer asked for these tokens, in one transaction: a batch does not wait for a hundred commits. False,
   * and nothing is noted, for a new one when `most` have been enrolled for the consumer since then.
   */
  claimEnrolments(claims: readonly EnrolmentClaim[]): Promise<readonly boolean[]>
  /** These were asked for then; of those that were enrolled by being asked for it is kept, and never moves back. */
  noteAsked(
    asked: readonly { readonly chainId: number; readonly tokenAddress: string; readonly atMs: number }[],
  ): Promise<void>
  /** Tokens enrolled by being asked for, and not asked for since; those that have waited longest first. */
  readIdle(chainId: number, sinceMs: number): Promise<readonly string[]>
  /** Several tokens of any chains from one commit, in the order asked; null for one that is not known. */
  readTokensOf(
    tokens: readonly { readonly chainId: number; readonly tokenAddress: string }[],
  ): Promise<readonly (TokenRow | null)[]>
}
