export { addToExpress } from "./adapters/express.js";
export { toFastifyPlugin } from "./adapters/fastify.js";
export { toFetchHandler } from "./adapters/fetch.js";
export { toNodeHandler } from "./adapters/node-http.js";
export type { EventSource } from "./receiver/backfill.js";
export {
  createReceiver,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
} from "./receiver/create-receiver.js";
export type { SequenceRange } from "./receiver/gaps.js";
export type {
  ClaimedDelivery,
  ParkedDelivery,
  ProcessResult,
  ReceiverStore,
  StoredDelivery,
} from "./receiver/receiver-store.js";
export { type JournalOptions, type JournalStore, openJournalStore } from "./stores/journal-store.js";
export {
  createPostgresStore,
  postgresStoreSchema,
  type SqlPool,
  type SqlTransaction,
} from "./stores/postgres-store.js";
export {
  createSqliteStore,
  type SqliteHandle,
  type SqliteStatement,
  sqliteStoreSchema,
} from "./stores/sqlite-store.js";
export type { EventNotification, Notification } from "./verification/notification.js";
export { signTestWebhook, type TestWebhook } from "./verification/sign-test-webhook.js";
export { type ReceivedWebhook, verifyWebhook, type WebhookHeaders } from "./verification/verify-webhook.js";
export { WebhookError, type WebhookFault } from "./verification/webhook-error.js";
