/** What a client of version 0.1.0 sends, in this order. Names in braces stand for what earlier answers gave. */
export interface RecordedRequest {
  name: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent as a form, with the client's secret, and without a token. */
  form?: Record<string, string>;
  /** What of the answer later requests need, and what they call it. */
  keep?: Record<string, string>;
  /** Asked again until what the answer shows is in this state. */
  untilState?: string;
}

const payment = { reference: "invoice-2041", asset: "USD", amount: "125.50" };
const key = { "idempotency-key": "the-first" };

export const requests: readonly RecordedRequest[] = [
  {
    name: "token",
    method: "POST",
    path: "/oauth/token",
    form: { grant_type: "client_credentials", scope: "wallets:read" },
  },
  { name: "server metadata", method: "GET", path: "/.well-known/oauth-authorization-server" },
  { name: "assets", method: "GET", path: "/v1/assets" },
  { name: "states", method: "GET", path: "/v1/transaction-states" },
  {
    name: "create",
    method: "POST",
    path: "/v1/transactions",
    headers: key,
    body: payment,
    keep: { transaction: "id" },
  },
  { name: "create again", method: "POST", path: "/v1/transactions", headers: key, body: payment },
  {
    name: "reuse the key",
    method: "POST",
    path: "/v1/transactions",
    headers: key,
    body: { ...payment, amount: "1" },
  },
  { name: "no key", method: "POST", path: "/v1/transactions", body: payment },
  {
    name: "no amount",
    method: "POST",
    path: "/v1/transactions",
    headers: { "idempotency-key": "b" },
    body: { reference: "a", asset: "USD" },
  },
  {
    name: "too precise",
    method: "POST",
    path: "/v1/transactions",
    headers: { "idempotency-key": "c" },
    body: { ...payment, amount: "0.001" },
  },
  {
    name: "unknown asset",
    method: "POST",
    path: "/v1/transactions",
    headers: { "idempotency-key": "d" },
    body: { ...payment, asset: "XXX" },
  },
  { name: "read", method: "GET", path: "/v1/transactions/{transaction}", untilState: "completed" },
  { name: "cancel too late", method: "POST", path: "/v1/transactions/{transaction}/cancel" },
  { name: "list", method: "GET", path: "/v1/transactions?reference=invoice-2041" },
  { name: "read nothing", method: "GET", path: "/v1/transactions/tx_01h455vb4pex5vsknk084sn02q" },
  {
    name: "batch",
    method: "POST",
    path: "/v1/transactions/batch",
    body: { transactions: [{ ...payment, idempotency_key: "e" }, { idempotency_key: "f" }] },
  },
  {
    name: "create a wallet",
    method: "POST",
    path: "/v1/wallets",
    body: { name: "payouts", purpose: "payout" },
    keep: { wallet: "id" },
  },
  { name: "read the wallet", method: "GET", path: "/v1/wallets/{wallet}", untilState: "active" },
  { name: "freeze", method: "POST", path: "/v1/wallets/{wallet}/freeze" },
  { name: "unfreeze", method: "POST", path: "/v1/wallets/{wallet}/unfreeze" },
  { name: "policy", method: "GET", path: "/v1/policy" },
  {
    name: "evaluate",
    method: "POST",
    path: "/v1/policy/evaluate",
    body: { transaction: payment },
  },
  { name: "first event", method: "GET", path: "/v1/events?after=0&limit=1" },
  {
    name: "create a client",
    method: "POST",
    path: "/v1/clients",
    body: { name: "reader", scopes: ["wallets:read"] },
    keep: { client: "id" },
  },
  {
    name: "change the client",
    method: "PATCH",
    path: "/v1/clients/{client}",
    body: { name: "reader of wallets" },
  },
  {
    name: "add a key",
    method: "POST",
    path: "/v1/clients/{client}/keys",
    body: { algorithm: "hmac-sha256" },
  },
  { name: "rotate its secret", method: "POST", path: "/v1/clients/{client}/secrets", body: {} },
  { name: "no such path", method: "GET", path: "/v1/nowhere" },
];
