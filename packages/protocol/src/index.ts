export { AuditEntry, AuditPage, AuditQuery } from "./access/audit.js";
export {
  type ChangeKind,
  type ChangeOf,
  ChangeRequest,
  ChangeRequestPage,
  ChangeRequestPath,
  ChangeRequestQuery,
  type ChangeRequestSummary,
  CreateChangeRequestBody,
  changeRequestStates,
  DecideChangeBody,
} from "./access/change-request.js";
export {
  AddedKey,
  AddKeyBody,
  ChangeClientBody,
  Client,
  ClientKeyPath,
  ClientPage,
  ClientPath,
  ClientQuery,
  ClientSecretPath,
  CreateClientBody,
  CreatedClient,
  RotatedSecret,
  RotateOwnSecretBody,
  RotateSecretBody,
} from "./access/client.js";
export { ClientName, clientNameScopes } from "./access/client-name.js";
export { ClientUsage, ClientUsageQuery } from "./access/client-usage.js";
export { Me } from "./access/me.js";
export {
  AuthorizationServerMetadata,
  Introspection,
  IssuedToken,
  JsonWebKeySet,
  OAuthError,
  RevokedToken,
  TokenActionForm,
  TokenForm,
} from "./access/oauth.js";
export {
  ChangePersonBody,
  CreateRoleBody,
  InvitedPerson,
  InvitePersonBody,
  Passkey,
  Person,
  PersonPage,
  PersonPath,
  PersonQuery,
  Role,
  RoleList,
  RolePath,
} from "./access/person.js";
export { ClientQuotas, type QuotaClass, quotaCatalog, quotaClasses } from "./access/quota.js";
export { builtInRoles, isBuiltInRole } from "./access/roles.js";
export {
  allScopes,
  grantableScopes,
  isOperatorScope,
  isScope,
  operatorScopes,
  protectingScopes,
  type Scope,
  scopeCatalog,
} from "./access/scopes.js";
export {
  AddPasskeyBody,
  FinishProviderLoginBody,
  LoginChallenge,
  OpenedSession,
  OpenSessionBody,
  PasskeyList,
  PasskeyPath,
  ProviderLogin,
  RegisterPasskeyBody,
  RegistrationOptions,
  RegistrationOptionsBody,
  RenamePasskeyBody,
  Session,
  SessionList,
  SessionPath,
  SessionToken,
} from "./access/session.js";
export { type Components, createComponents } from "./components.js";
export { type Deprecation, deprecated, deprecationKeyword } from "./deprecation.js";
export { ErrorBody, type ErrorDetail, type ErrorFields, errorBody } from "./errors/error-body.js";
export { type ErrorCode, errorCatalog } from "./errors/error-catalog.js";
export type { ErrorEntry } from "./errors/error-entry.js";
export type { Example } from "./examples/example.js";
export { exampleIds } from "./examples/example-ids.js";
export { exampleNamesOf, examples } from "./examples/examples.js";
export { Liveness, Readiness } from "./health.js";
export { readId, showId } from "./ids.js";
export {
  type ApprovalRecord,
  ApprovalRecords,
  ApprovalStatus,
  ApprovalTally,
  DecideApprovalBody,
} from "./policy/approval.js";
export {
  CreateDestinationBody,
  Destination,
  DestinationPage,
  DestinationPath,
  DestinationQuery,
} from "./policy/destination.js";
export {
  EvaluatePolicyBody,
  Policy,
  PolicyEvaluation,
  PolicyQuery,
  PolicyVersionPage,
  PolicyVersionQuery,
} from "./policy/policy.js";
export { PolicyDocument, policyDocumentBytesMax } from "./policy/policy-document.js";
export { isRequestId, requestIdHeader } from "./request-id.js";
export { AssetList } from "./resources/asset.js";
export { CreateDepositBody } from "./resources/deposit.js";
export {
  type Event,
  type EventKind,
  EventList,
  EventQuery,
  eventKindDescriptions,
  eventKinds,
  eventScopes,
  mayReadEvents,
} from "./resources/event.js";
export { type LedgerAccount, LedgerEntries } from "./resources/ledger-entry.js";
export {
  MarketList,
  MarketPath,
  Orderbook,
  OrderbookQuery,
  orderbookDepthMax,
  Trade,
  TradePage,
  TradeQuery,
} from "./resources/market.js";
export { type Network, NetworkList } from "./resources/network.js";
export {
  AmendOrderBody,
  ChangedOrder,
  describeOrderStates,
  Order,
  OrderPage,
  OrderPath,
  OrderQuery,
  OrderStates,
  PlaceOrderBody,
} from "./resources/order.js";
export {
  Overview,
  OverviewQuery,
  WalletEntryCsv,
  WalletEntryPage,
  WalletEntryQuery,
  WalletHistory,
  WalletHistoryQuery,
} from "./resources/overview.js";
export { SearchQuery, SearchResult } from "./resources/search.js";
export { FailureList, FailurePath, RetriedFailure, System } from "./resources/system.js";
export {
  ChangedTransaction,
  CreateTransactionBody,
  describeTransactionStates,
  Transaction,
  TransactionPage,
  TransactionPath,
  TransactionQuery,
  TransactionStates,
} from "./resources/transaction.js";
export {
  CreateTransactionsBody,
  TransactionBatchItem,
  type TransactionBatchItemResult,
  TransactionBatchResult,
  transactionBatchMax,
} from "./resources/transaction-batch.js";
export {
  ChangedWallet,
  CreateWalletBody,
  FreezeWalletBody,
  Wallet,
  WalletPage,
  WalletPath,
  WalletQuery,
  type WalletSummary,
} from "./resources/wallet.js";
export {
  countResends,
  ReplayBody,
  ReplayedEvents,
  ResendFailedBody,
  ResentDeliveries,
  ResentWebhookDelivery,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookDeliveryPath,
  WebhookDeliveryQuery,
  type WebhookDeliverySummary,
} from "./resources/webhook-delivery.js";
export {
  ChangedWebhookEndpoint,
  ChangeWebhookEndpointBody,
  CreatedWebhookEndpoint,
  CreateWebhookEndpointBody,
  RotatedWebhookSecret,
  RotateWebhookSecretBody,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointPath,
  WebhookEndpointQuery,
  WebhookTest,
  WebhookVerification,
} from "./resources/webhook-endpoint.js";
export {
  ReplayCount,
  ReplayCountQuery,
  WebhookEndpointStats,
  WebhookStatsQuery,
} from "./resources/webhook-stats.js";
export * from "./signing/index.js";
export { asyncApiDocument, streamProtocol } from "./stream/asyncapi.js";
export { Authenticate, SubscribeToEvents, Unsubscribe } from "./stream/client-messages.js";
export { type CloseCode, closeCodes } from "./stream/close-codes.js";
export {
  type DeltaMessage,
  type SnapshotMessage,
  SubscribeToOrderbook,
  SubscribeToTrades,
  type TradeMessage,
} from "./stream/market-messages.js";
export type {
  Authenticated,
  EventMessage,
  Heartbeat,
  Hello,
  Reauthenticate,
  StreamError,
  Subscribed,
  Unsubscribed,
} from "./stream/server-messages.js";
export { StreamQuery, StreamTicket } from "./stream/ticket.js";
export type { Actor } from "./values.js";
export { apiVersion, versionHeader } from "./version.js";
export { isVisibleLine, isVisibleText, visibleTextFormats } from "./visible-text.js";
export * from "./webhooks/index.js";
export {
  WebhookBody,
  WebhookChallenge,
  WebhookChallengeAnswer,
  WebhookTestBody,
} from "./webhooks/webhook-body.js";
