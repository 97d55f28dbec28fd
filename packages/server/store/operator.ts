/**
 * What an operator changes and reads while the service runs: consumers' limits, policies, settings, the audit trail.
 */
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
  /** Newest first; `before` is the id of the last entry of the previous page. */
  readAudit(before: number | null, limit: number): Promise<readonly (AuditRow & { readonly id: number })[]>
  /** A policy is kept under its version for good, because records refer to it. */
  writePolicy(policyVersion: string, policy: string, atMs: number): Promise<void>
  readPolicy(policyVersion: string): Promise<string | null>
  readSetting(name: string): Promise<string | null>
  /** Null deletes the setting. */
  writeSetting(name: string, value: string | null): Promise<void>
  /**
   * Records that a consumer requested these tokens, in one transaction: a batch does not wait for a hundred commits.
   * False, with nothing recorded, for a new token when the consumer has `most` enrolments in the period.
   */
  claimEnrolments(claims: readonly EnrolmentClaim[]): Promise<readonly boolean[]>
  /**
   * Records the time of a request for these tokens. It is kept for tokens that were enrolled on demand, and never moves
   * back.
   */
  noteAsked(
    asked: readonly { readonly chainId: number; readonly tokenAddress: string; readonly atMs: number }[],
  ): Promise<void>
  /** Tokens enrolled on demand and not requested since; longest idle first. */
  readIdle(chainId: number, sinceMs: number): Promise<readonly string[]>
  /** Several tokens of any chains from one commit, in the order of the request; null for an unknown one. */
  readTokensOf(
    tokens: readonly { readonly chainId: number; readonly tokenAddress: string }[],
  ): Promise<readonly (TokenRow | null)[]>
}
