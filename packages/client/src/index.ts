export { compare, fromUnits, toUnits } from "./amounts/amounts.js";
export { approvalDigest } from "./approvals/approval-digest.js";
export { type ApprovalTerms, readApprovalTerms } from "./approvals/approval-terms.js";
export { changeDigest } from "./approvals/change-digest.js";
export { type Bursar, createBursar } from "./create-bursar.js";
export type {
  Credentials,
  Ed25519Jwk,
  KeyCredentials,
  SecretCredentials,
  SigningCryptoKey,
  SuppliedToken,
  TokenFunction,
} from "./credentials/credentials.js";
export {
  BursarError,
  type BursarErrorCode,
  type ClientErrorCode,
  isBursarError,
  type Outcome,
} from "./errors/bursar-error.js";
export type { ServiceErrorCode } from "./generated/error-codes.js";
export type * from "./generated/operations.js";
export { passkeyOperations } from "./generated/passkey-operations.js";
export type * from "./generated/schemas.js";
export { scopeDescriptions } from "./generated/scopes.js";
export type { List, PageOf } from "./lists/list.js";
export type { ManyItem, ManyResult } from "./resources/create-many.js";
export type { BursarEvent } from "./resources/event-kinds.js";
export { createEvents, type EventPage } from "./resources/events.js";
export { createOrders } from "./resources/orders.js";
export { createTransactions } from "./resources/transactions.js";
export type { WaitOptions } from "./resources/wait-for.js";
export { createWallets } from "./resources/wallets.js";
export type { FollowOptions, Gap } from "./stream/follow.js";
export type { FollowEventsOptions, FollowedEvent } from "./stream/follow-events.js";
export type { FollowedTrade } from "./stream/follow-trades.js";
export type { LiveBook } from "./stream/live-orderbook.js";
export type { Level } from "./stream/local-book.js";
export type { SocketConstructor, SocketLike } from "./stream/socket.js";
export type {
  BursarOptions,
  CallOptions,
  CreateOptions,
  RequestNotice,
  RequestToConfirm,
  ResponseNotice,
} from "./transport/options.js";
export type { Answered, ResponseInfo } from "./transport/response-info.js";
export type { Runtime } from "./transport/runtime.js";
export { createTransport, type Transport } from "./transport/transport.js";
