export { type ApprovedChange, changeContent } from "./access/change-content.js";
export type { HeldKey } from "./access/held-keys.js";
export {
  areIndependent,
  closeLineages,
  controllersMax,
  everyone,
  type Lineage,
  lineageMax,
} from "./access/lineage.js";
export { type KeySchedule, scheduleKeys } from "./access/token-key-schedule.js";
export type { Book, BookOptions, Depth, DepthLevel, LevelChange } from "./book/book.js";
export { createBook, restoreBook } from "./book/fast-book.js";
export { canonicalAddress, isChainId } from "./destination/destination-address.js";
export { isTypeId, type TypeId, typeIdFromUuid, uuidFromTypeId } from "./id/type-id.js";
export { createUuidV7Source, timeOfUuidV7, type UuidV7Source } from "./id/uuid-v7.js";
export { canonicalJson } from "./json/canonical-json.js";
export {
  type AccountKey,
  type AccountKind,
  accountKind,
  accountName,
  type Balance,
  externalAccountId,
  feeAccountId,
  feeTenantId,
  findExternalAccountCollision,
  marketClearingAccountId,
  mayBeNegative,
} from "./ledger/accounts.js";
export {
  accountsOfChanges,
  applyInPlace,
  applyLedgerChange,
  type Hold,
  type LedgerChange,
  type LedgerOutcome,
  noLedgerChange,
  type Posting,
} from "./ledger/ledger-change.js";
export { checksumDepth } from "./market/checksum.js";
export {
  type CancelReason,
  type CommandRefusal,
  type Effect,
  orderEventsOf,
  type RejectReason,
  type Trade,
} from "./market/effects.js";
export { createMarket, type Market, type MarketFault, type MarketTerms } from "./market/market.js";
export {
  createMarketRegistry,
  type DefinitionFault,
  type MarketDefinition,
  type MarketRegistry,
  type TradedMarket,
} from "./market/market-registry.js";
export type {
  AmendOrder,
  BookCommand,
  CancelOrder,
  OpenOrder,
  PlaceLimit,
  PlaceMarket,
  SelfTrade,
  Side,
  TimeInForce,
} from "./market/order.js";
export { feeOf, limitHold, type TradeMoney, tradeMoney } from "./market/order-money.js";
export {
  type OrderEvent,
  type OrderState,
  orderEvents,
  orderStates,
  orderTransitions,
} from "./market/order-states.js";
export {
  bandAfter,
  boundOrder,
  centreOf,
  type MarketPrices,
  type PriceBand,
  type PriceRange,
  priceRange,
  restoreBand,
} from "./market/price-band.js";
export {
  baseUnitsOfLots,
  formatPrice,
  formatSize,
  lotsFromBaseUnits,
  type PriceFault,
  parsePrice,
  parseSize,
  quoteUnitsOf,
  type SizeFault,
  tickLotsFromQuoteUnits,
} from "./market/ticks-and-lots.js";
export { formatAmount, parseAmount } from "./money/amount.js";
export { type Asset, type AssetRegistry, createAssetRegistry } from "./money/asset.js";
export { type ApprovedTransaction, approvalContent } from "./policy/approvals/approval-content.js";
export {
  type Approval,
  type ApprovalFault,
  type ApprovalRequirement,
  type ApprovalTally,
  approvalFaults,
  bothRequirements,
  findIndependenceFault,
  type IndependenceFault,
  type Initiator,
  mayApprove,
  recordedApprovalsMax,
  type StandingFault,
  staleTokensMs,
  tallyApprovals,
} from "./policy/approvals/approvals.js";
export {
  comparePolicies,
  comparePoliciesInSlices,
  keepsChanges,
  type PolicyComparison,
} from "./policy/comparison/compare-policies.js";
export { compilePolicy, type PolicyCompilation } from "./policy/compile-policy.js";
export type {
  CompiledPolicy,
  PolicyChanges,
  SpotVerdict,
  Verdict,
  WindowKind,
} from "./policy/compiled-policy.js";
export { countReferences } from "./policy/document/count-references.js";
export { defaultPolicy, tradingPolicy } from "./policy/document/default-policy.js";
export type { PolicyFault } from "./policy/document/document-field.js";
export { namedClients } from "./policy/document/named-clients.js";
export {
  type DestinationKind,
  defaultRuleName,
  destinationKinds,
  type PolicyDocument,
  policyActions,
  policyLimits,
  type RequestKind,
  requestKinds,
  type UsageScope,
  usageScopes,
} from "./policy/document/policy-document.js";
export type { PolicyReference, PolicyWorld } from "./policy/document/policy-reader.js";
export { createTimeZones, type TimeZones } from "./policy/hour-of-day.js";
export { type Judgement, judge, judgeWithUsage, type Measurement, neededWindows } from "./policy/judge.js";
export { type JudgedRequirement, judgeWaiting, type WaitingVerdict } from "./policy/judge-waiting.js";
export type { PolicyRequest } from "./policy/policy-request.js";
export {
  countsTowardsLimits,
  countTransaction,
  type Usage,
  type UsageByWindow,
  type UsageWindow,
} from "./policy/usage.js";
export {
  debtMaxOf,
  fullBucket,
  msUntilTokens,
  type Quota,
  quotaLimits,
  refillBucket,
  type TokenBucket,
  takeTokens,
  toRetryAfterSeconds,
} from "./quota/token-bucket.js";
export {
  type Decision,
  decide,
  decideOnBalances,
  type FailureCode,
  feeCover,
  type RejectionCode,
  type TransactionEvent,
} from "./transaction/decide.js";
export {
  type AssetAmount,
  accountOfParty,
  type DecidableTransaction,
  type PolicyRejection,
  type Receipt,
  type TransactionDetails,
  type TransactionKind,
  type TransactionParties,
  transactionKinds,
} from "./transaction/transaction.js";
export {
  isFinal,
  type TransactionState,
  transactionEvents,
  transactionStates,
  transitions,
} from "./transaction/transitions.js";
export { type WalletPurpose, walletPurposes } from "./wallet/wallet-purpose.js";
export {
  afterFailure,
  allowedRequests,
  type CircuitBreaker,
  closedBreaker,
  probingBreaker,
} from "./webhooks/circuit-breaker.js";
export { attemptDelaysMs, delayAfter, readRetryAfterMs } from "./webhooks/retry-schedule.js";
