import { keyFaults } from "./key-faults.js";
import { profileFaults } from "./profile-faults.js";
import { refusalFaults } from "./refusal-faults.js";
import { transactionFaults } from "./transaction-faults.js";
import { webhookFaults } from "./webhook-faults.js";

/**
 * The faults of the Plain server. Each has the one check that is meant for it, and words that the report of that check must contain, so
 * that a reader learns what is wrong and not only that something is.
 */
export interface Fault {
  readonly check: string;
  readonly words: string;
  /** What the report must not say, because it is not what is wrong. */
  readonly never?: string;
  /** Another check that sees the same fault, and says rightly what it sees. */
  readonly also?: string;
  /** It shows in what the requests of other checks have caused. */
  readonly isSeenInOthers?: true;
}

export const faults = {
  ...transactionFaults,
  ...keyFaults,
  // Bodies
  "number-accepted": { check: "body.amount.number", words: "an amount that is a JSON number" },
  "word-accepted": { check: "body.amount.word", words: "not a decimal number" },
  "integer-accepted": { check: "body.amount.type", words: "an amount that is a JSON integer" },
  "list-accepted": { check: "body.amount.type", words: "an amount that is a list" },
  "amount-prefix-accepted": { check: "body.amount.decimal", words: 'the amount "1.15abc"' },
  "amount-in-a-line-accepted": { check: "body.amount.decimal", words: String.raw`the amount "abc\n1.15"` },
  "empty-amount-accepted": { check: "body.amount.decimal", words: 'the amount ""' },
  "reference-number-accepted": { check: "body.reference.number", words: "a reference that is a JSON number" },
  "asset-number-accepted": { check: "body.asset.number", words: "an asset that is a JSON number" },
  "asset-list-accepted": { check: "body.asset.number", words: "an asset that is a list" },
  "null-accepted": { check: "body.array", words: "null as the body" },
  "xml-accepted": { check: "body.form", words: "XML as the body" },
  "binary-amount-accepted": { check: "body.amount.decimal", words: '"0b1"' },
  "form-accepted": { check: "body.form", words: "a form" },
  "malformed-accepted": { check: "body.malformed", words: "not JSON" },
  "refusals-dropped": {
    check: "body.amount.number",
    words: "a response to POST /v1/transactions; seen the connection was closed without a response",
  },
  "malformed-dropped": { check: "body.malformed", words: "the connection was closed without a response" },
  "string-accepted": { check: "body.strict", words: "a JSON string as the body" },
  "array-accepted": { check: "body.array", words: "an array" },
  "empty-body-accepted": { check: "body.empty", words: "an empty body" },
  "amount-shown-as-number": { check: "shown.amount.string", words: "the amount as a number: 1.15" },
  "amount-left-out": { check: "shown.amount.string", words: "where shown.amount of the target file says" },
  "amount-rounded": { check: "shown.amount.equal", words: "the amount 1" },
  "amount-cut-to-cents": { check: "shown.amount.equal", words: "the amount 1.14" },
  "amount-through-double": { check: "shown.amount.exact", words: "the amount 0.01" },
  "reference-mangled": { check: "shown.reference", words: "the reference" },
  "reference-in-lower-case": { check: "shown.reference.exact", words: "abc" },
  "reference-escaped": { check: "shown.reference.exact", words: "&lt;b>" },
  "reference-cut": {
    check: "shown.reference.exact",
    words: "characters as it was sent, and not one of 255",
  },
  "reference-cut-at-64": {
    check: "shown.reference.exact",
    words: "of 100 characters as it was sent, and not one of 64",
  },
  "reference-trimmed": { check: "shown.reference.exact", words: 'x  y "; seen the reference' },
  "asset-changed": { check: "shown.asset", words: "the asset USD" },
  ...refusalFaults,
  ...webhookFaults,
  // Declared
  "openapi-malformed": { check: "declared.openapi.document", words: "the member openapi" },
  "openapi-lacks-operation": { check: "declared.openapi.operations", words: "no POST /v1/wallets" },
  "openapi-key-optional": { check: "declared.openapi.key", words: "required: false" },
  "openapi-other-status": { check: "declared.openapi.statuses", words: "no 202 for POST /v1/transactions" },
  "openapi-dangling-reference": { check: "declared.openapi.schemas", words: "Missing" },
  "create-off-schema": { check: "declared.create.schema", words: "/created_at must be string" },
  "get-off-schema": { check: "declared.get.schema", words: "/created_at must be string" },
  "wallet-off-schema": { check: "declared.wallet.schema", words: "must have required property 'label'" },
  "book-off-schema": { check: "declared.book.schema", words: "/market must be string" },
  "status-not-listed": { check: "declared.error.status", words: "status 418" },
  "error-off-schema": { check: "declared.error.schema", words: "/error/retryable must be boolean" },
  "code-not-listed": { check: "declared.error.code", words: "the code OUT_OF_LUCK" },
  "webhook-off-schema": { check: "declared.webhook.schema", words: "required property 'occurred_at'" },
  "webhook-header-missing": { check: "declared.webhook.headers", words: "the header Plain-Attempt" },
  "asyncapi-malformed": { check: "declared.asyncapi.document", words: "messages of operations" },
  "stream-off-schema": { check: "declared.stream.messages", words: '"version":1' },
  ...profileFaults,
  // Found by waiting
  "key-forgotten-after-a-minute": { check: "idempotency.minute", words: "after the first" },
  "final-changes-later": { check: "tx.get.result-minute", words: "the state failed" },
  "expired-token-accepted": { check: "oauth.expiry", words: "after it was issued" },
  "retried-too-early": { check: "bursar.retry-schedule", words: "retry 2 after 50 ms" },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];
