/**
 * The sentences of the contract, version 0.1.0, each with an id that begins with its section. A check names the sentence that it tests, and
 * a sentence that no check can test says why. The contract's own list of what is "not shown" is not repeated: it is open, and
 * nothing that is open can fail.
 */
export const contractVersion = "0.1.0";

export interface Sentence {
  readonly text: string;
  /** Why no check tests it; absent if one does. */
  readonly untested?: string;
}

export const sections: Readonly<Record<string, string>> = {
  "1": "What the service does",
  "2": "Resources and their fields",
  "3": "States and transitions",
  "4": "Endpoints",
  "5": "Authentication",
  "6": "Events",
  "7": "Errors",
  "8": "Limits",
  "9": "Versioning",
};

export const sentences = {
  "1.wallets": { text: "The service accepts requests to create a wallet." },
  "1.transactions": {
    text: "The service accepts requests to create a transaction. Creating a transaction is a critical write and is protected against repeated submission by a required idempotency key.",
  },
  "1.state": { text: "The service returns the state of one transaction by its identifier." },
  "1.book": { text: "The service returns an order-book snapshot." },
  "1.webhooks": {
    text: "The service sends signed webhook notifications when a transaction is updated.",
  },
  "1.async": {
    text: "Creation of wallets and of transactions is asynchronous: the service answers with status 202 (accepted) and does not return a final outcome in that response.",
  },
  "1.errors": {
    text: "Failures are reported in a machine-readable error object that carries a correlation identifier.",
  },
  "2.reference": { text: "reference (string): A client-chosen reference for the transaction." },
  "2.asset": { text: "asset (string): The asset code of the transaction." },
  "2.amount": {
    text: "amount (string): A decimal number carried as a string, not as a JSON number.",
  },
  "2.id": {
    text: "Transaction resource returned by GET /v1/transactions/{id}: it is identified by a string id, and it represents the transaction state.",
  },
  "3.state": {
    text: "A transaction has a state that can be read through GET /v1/transactions/{id}, and a change to it is announced by the webhook event transaction.updated.",
  },
  "4.prefix": { text: "All paths are relative to {base_url}. All paths carry the prefix /v1." },
  "4.post-wallets": { text: "POST /v1/wallets: Create wallet request; success response 202 Accepted." },
  "4.post-transactions": {
    text: "POST /v1/transactions: header Idempotency-Key (string, required); header Authorization carrying a bearer token; JSON body with reference, asset, amount; success response 202 Accepted.",
  },
  "4.get-transaction": {
    text: "GET /v1/transactions/{id}: path parameter id (string, required); 200, body is the transaction state.",
  },
  "4.get-orderbook": {
    text: "GET /v1/orderbook: No parameter is defined; 200, body is the snapshot.",
  },
  "4.rule-1": {
    text: "When POST /v1/transactions is sent without the Idempotency-Key header, the request does not conform to the contract.",
  },
  "4.rule-2": { text: "The Idempotency-Key value is a client-generated unique string." },
  "4.rule-3": { text: "The body of a create request is JSON." },
  "4.rule-4": {
    text: "A 202 means the request is accepted for asynchronous processing; the eventual result is read with GET /v1/transactions/{id} or learned from the webhook transaction.updated.",
  },
  "5.bearer": {
    text: "The create-transaction request carries the header Authorization with the value Bearer followed by a space and <ACCESS_TOKEN>.",
  },
  "5.parts": {
    text: "The contract also names API keys, signed requests, a token lifecycle and authorization scopes as parts of the authentication design.",
  },
  "6.delivered": {
    text: "The service delivers webhook notifications. They are signed, are retried, carry a delivery identifier, and are meant to be processed without duplicates.",
  },
  "6.event": { text: "Event kind: transaction.updated. Field or header event names the event kind." },
  "6.signature": { text: "Field or header signature carries the signature of the notification." },
  "6.delivery-id": { text: "Field or header delivery_id: a unique identifier of one delivery." },
  "6.procedure": {
    text: "Receiver procedure, in this order: 1. Verify the signature. 2. Persist the notification. 3. Process it. 4. Answer with a 2xx status.",
    untested:
      "It is about the receiver. That nothing is sent after a 2xx is not said; the profile standard-webhooks looks at it.",
  },
  "6.unique": {
    text: "The delivery_id is unique per delivery, and a receiver uses it to ignore a notification it has already handled.",
  },
  "6.emitted": {
    text: "The event transaction.updated is emitted when a transaction changes; which operation or change triggers it is not tied to a specific transition.",
  },
  "6.stream": {
    text: "The WebSocket real-time stream is named in the contract (connection lifecycle, reconnect, event ordering), but its messages and endpoint: not shown.",
    untested: "Its messages and its endpoint are open.",
  },
  "7.object": { text: "An error response has a JSON body with one top-level object named error." },
  "7.code": {
    text: "code (string): Machine-readable error code, upper snake case, for instance POLICY_REJECTED.",
  },
  "7.message": { text: "message (string): Short human-readable text." },
  "7.request-id": {
    text: "request_id (string): Correlation identifier of the request, <request_id>, for support and tracing.",
  },
  "7.policy": {
    text: "The only code given is POLICY_REJECTED, used when a request is rejected by policy.",
  },
  "8.quotas": {
    text: "Rate limits exist as quotas, with backoff and controlled retry expected of clients.",
    untested:
      "Values, headers and the status are open, and only a flood would show that a quota exists. The kit itself backs off when it is asked to.",
  },
  "8.key": { text: "POST /v1/transactions requires the Idempotency-Key header." },
  "9.prefix": { text: "The version is carried in the path prefix /v1." },
  "9.document": {
    text: "The contract document itself has the version 0.1.0.",
    untested: "It is about the document, not about a service.",
  },
  "9.compatibility": {
    text: "Backward-compatibility principles are stated as a goal of the REST API, and rules for them are not given in detail.",
    untested:
      "Without rules there is nothing to compare; one version of a service shows nothing about the next.",
  },
} as const satisfies Record<string, Sentence>;

export type SentenceId = keyof typeof sentences;

export function sectionOf(id: string): string {
  return id.split(".")[0] ?? id;
}
