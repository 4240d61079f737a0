import { tradingPolicy } from "@bursar/domain";
import { exampleNamesOf, examples } from "@bursar/protocol";
import type { Route } from "../../../src/http/route.js";
import { eventually } from "../eventually.js";
import type { BlackBoxService } from "../service/test-service.js";
import { startWebhookReceiver } from "../webhooks/webhook-receiver.js";

/** Bodies that the tests need to be other than the documented example. */
const bodies: Record<string, unknown> = {
  createClient: { name: "matrix", scopes: [] },
  changeClient: { name: "changed" },
  rotateSecret: {},
  rotateOwnSecret: { current_secret: "wrong" },
  addKey: { algorithm: "hmac-sha256" },
  createChangeRequest: {
    kind: "client.change",
    change: { client_id: "cli_01h455vb4pex5vsknk084sn02q", state: "disabled" },
  },
  approveChangeRequest: { digest: "0".repeat(64) },
  rejectChangeRequest: { digest: "0".repeat(64) },
  invitePerson: { email: "matrix@people.example", name: "matrix", role: "viewer" },
  changePerson: { name: "changed" },
  createRole: { name: "matrix", scopes: ["wallets:read"] },
  createTransaction: { reference: "matrix", asset: "USD", amount: "1" },
  decideApproval: { decision: "approve", digest: "0".repeat(64) },
  createTransactions: {
    transactions: [{ idempotency_key: "matrix", reference: "matrix", asset: "USD", amount: "1" }],
  },
  createDeposit: {
    reference: "matrix",
    asset: "USD",
    amount: "1",
    destination: { wallet_id: "wlt_01h455vb4pex5vsknk084sn02q" },
  },
  createWallet: { name: "matrix", purpose: "payout" },
  placeOrder: { market: "ETH-USD", side: "buy", price: "1", size: "1" },
  amendOrder: { size: "0.5" },
  replacePolicy: {
    rules: [
      {
        name: "many",
        when: { count: { per: "tenant", period_seconds: 60, above: 1_000_000 } },
        action: "reject",
        reason: "Too many.",
      },
    ],
    default: { action: "allow" },
  },
  evaluatePolicy: { transaction: { reference: "matrix", asset: "USD", amount: "1" } },
  createDestination: { label: "matrix", network: "eip155:1", address: `0x${"1".repeat(40)}` },
  createWebhookEndpoint: { url: "https://matrix.example/hook" },
  changeWebhookEndpoint: { description: "changed" },
  rotateWebhookSecret: {},
  resendFailedWebhooks: { created_before: "2020-01-01T00:00:00Z" },
  replayWebhooks: { endpoint_id: "whe_01h455vb4pex5vsknk084sn02q", from_sequence: 1 },
};

/** Identifiers of the right form that nobody has. */
export const unknownIds: Record<string, string> = {
  clients: "cli_01h455vb4pex5vsknk084sn02q",
  "change-requests": "chr_01h455vb4pex5vsknk084sn02q",
  destinations: "dst_01h455vb4pex5vsknk084sn02q",
  people: "cli_01h455vb4pex5vsknk084sn02q",
  roles: "nobody-has-this",
  passkeys: "key_01h455vb4pex5vsknk084sn02q",
  sessions: "ses_01h455vb4pex5vsknk084sn02q",
  transactions: "tx_01h455vb4pex5vsknk084sn02q",
  wallets: "wlt_01h455vb4pex5vsknk084sn02q",
  orders: "ord_01h455vb4pex5vsknk084sn02q",
  "webhook-endpoints": "whe_01h455vb4pex5vsknk084sn02q",
  "webhook-deliveries": "dlv_01h455vb4pex5vsknk084sn02q",
  failures: "tx_01h455vb4pex5vsknk084sn02q",
  keys: "x",
  secrets: "x",
};

export function bodyOf(route: Route): unknown {
  if (route.body === undefined) return undefined;
  if (Object.hasOwn(bodies, route.operationId)) return bodies[route.operationId];
  const { $id = "" } = route.body as { $id?: string };
  const example = examples[exampleNamesOf($id)[0] ?? ""];
  if (example === undefined)
    throw new Error(`${route.operationId}: add an example "${$id}" to packages/protocol/src/examples`);
  return example.value;
}

/** What all tenants share, so that nobody hides it from anybody. */
const shared: Readonly<Record<string, string>> = { markets: "ETH-USD" };

export function isOfTenant(route: Route): boolean {
  const [collection] = /[\w-]+(?=\/:\w+)/.exec(route.path) ?? [];
  return collection !== undefined && !Object.hasOwn(shared, collection);
}

/** The route's path with the ids of these objects, which are named after the collection that a path has them in. */
export function pathOf(route: Route, objects: Readonly<Record<string, string>>): string {
  return route.path.replace(/([\w-]+)\/:\w+/g, (_, collection: string) => {
    const id = objects[collection] ?? shared[collection];
    if (id === undefined) throw new Error(`the routes' tests need an object of ${collection}`);
    return `${collection}/${id}`;
  });
}

/** The parameters that the route requires, with the documented examples as values: `?asset=USD`; empty if it requires none. */
export function requiredQueryOf({ query }: Route): string {
  const schema = query as
    | { required?: string[]; properties: Record<string, { examples?: string[] }> }
    | undefined;
  const values = Object.fromEntries(
    (schema?.required ?? []).map((name) => [name, schema?.properties[name]?.examples?.[0] ?? ""]),
  );
  return Object.keys(values).length === 0 ? "" : `?${new URLSearchParams(values)}`;
}

/** One object of each collection, for a tenant. */
export async function createObjects(
  { call }: BlackBoxService,
  token: string,
  clientId: string,
): Promise<Record<string, string>> {
  const path = `/v1/clients/${clientId}`;
  const { key } = (await (await call("POST", `${path}/keys`, token, bodies["addKey"])).json()) as {
    key: { id: string };
  };
  const client = (await (await call("GET", path, token)).json()) as { secrets: [{ id: string }] };
  const endpoint = await createVerifiedEndpoint(call, token);
  const transaction = await call("POST", "/v1/transactions", token, bodies["createTransaction"], {
    "idempotency-key": "the-owner's",
  });
  const { id, source } = (await transaction.json()) as { id: string; source: { wallet_id: string } };
  await call("PUT", "/v1/policy", token, tradingPolicy, { "if-match": '"0"' });
  const order = (await (
    await call("POST", "/v1/orders", token, bodies["placeOrder"], { "idempotency-key": "the-owner's" })
  ).json()) as { id: string };
  const change = { kind: "client.change", change: { client_id: clientId, require_signature: true } };
  const requested = (await (await call("POST", "/v1/change-requests", token, change)).json()) as {
    id: string;
  };
  const invited = await call("POST", "/v1/people", token, bodies["invitePerson"]);
  const person = (await invited.json()) as { id: string };
  await call("POST", "/v1/roles", token, bodies["createRole"]);
  const listed = await call("POST", "/v1/destinations", token, bodies["createDestination"]);
  const destination = (await listed.json()) as { id: string };
  return {
    clients: clientId,
    "change-requests": requested.id,
    destinations: destination.id,
    people: person.id,
    roles: "matrix",
    passkeys: "key_01h455vb4pex5vsknk084sn02q",
    sessions: "ses_01h455vb4pex5vsknk084sn02q",
    keys: key.id,
    secrets: client.secrets[0].id,
    transactions: id,
    // One that has not failed.
    failures: id,
    wallets: source.wallet_id,
    orders: order.id,
    "webhook-endpoints": endpoint.id,
    "webhook-deliveries": await firstDelivery(call, token),
  };
}

/** Its receiver is stopped at once; deliveries to it fail. */
async function createVerifiedEndpoint(call: BlackBoxService["call"], token: string): Promise<{ id: string }> {
  const receiver = await startWebhookReceiver();
  const created = await call("POST", "/v1/webhook-endpoints", token, { url: receiver.url });
  const endpoint = (await created.json()) as { id: string };
  await call("POST", `/v1/webhook-endpoints/${endpoint.id}/verify`, token);
  await receiver.stop();
  return endpoint;
}

/** The delivery that the transaction causes, once the engine has settled it. */
async function firstDelivery(call: BlackBoxService["call"], token: string): Promise<string> {
  const [delivery] = await eventually(
    async () => {
      const answer = await call("GET", "/v1/webhook-deliveries", token);
      return ((await answer.json()) as { data: { id: string }[] }).data;
    },
    (data) => data.length > 0,
  );
  return delivery?.id ?? "";
}
