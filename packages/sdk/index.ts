/** The package that customers install: the client, exact values, and the types of the wire. */
export type { AdminClient } from './client/admin.ts'
export { createClient, type Client, type ClientOptions } from './client/client.ts'
export * as exact from './client/exact.ts'
export {
  AssayError,
  CLIENT_ERRORS,
  type ClientErrorCode,
  type FailureCode,
  ForbiddenError,
  QuoteError,
  RateLimitedError,
  RequestError,
  UnauthenticatedError,
  UnreachableError,
} from './client/failure.ts'
export type { FollowCallbacks, Follower, FollowEvent, FollowRequest, FollowStatus } from './client/follow.ts'
export type { CallOptions } from './client/http.ts'
export type { FollowedPool, FollowedToken } from './client/market.ts'
export type { ScopeRequest } from './client/scope.ts'
export { stateAt } from './client/stateAt.ts'
export type { Socket, SocketConstructor, Stream, StreamOutcome, StreamRequest } from './client/stream.ts'
export type { Difference } from './verify/findings.ts'
export type { WebhookClient } from './client/webhooks.ts'
export { type Verification, verify, verifyOffline, type VerifyOptions } from './verify/verify.ts'
export * from './wire/index.ts'
