export { type KeySchedule, scheduleKeys } from "./access/token-key-schedule.js";
export { isTypeId, type TypeId, typeIdFromUuid, uuidFromTypeId } from "./id/type-id.js";
export { createUuidV7Source, timeOfUuidV7, type UuidV7Source } from "./id/uuid-v7.js";
export { canonicalJson } from "./json/canonical-json.js";
export type { Balance } from "./ledger/account.js";
export { formatAmount, parseAmount } from "./money/amount.js";
export { type Asset, type AssetRegistry, createAssetRegistry } from "./money/asset.js";
export { type Decision, decide, type FailureCode } from "./transaction/decide.js";
export {
  isFinal,
  type TransactionEvent,
  type TransactionState,
  transactionEvents,
  transactionStates,
  transitions,
} from "./transaction/transitions.js";
export {
  afterFailure,
  allowedRequests,
  type CircuitBreaker,
  closedBreaker,
} from "./webhooks/circuit-breaker.js";
export { attemptDelaysMs, delayAfter, readRetryAfterMs } from "./webhooks/retry-schedule.js";
