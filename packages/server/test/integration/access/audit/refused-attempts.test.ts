import { expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

interface Entry {
  action: string;
  outcome: string;
  code: string | null;
  object: string | null;
  repeated: number;
}

const read = async (token: string) =>
  ((await (await service.call("GET", "/v1/audit", token)).json()) as { data: Entry[] }).data;

async function paid(token: string): Promise<string> {
  const payment = { reference: "r", asset: "USD", amount: "1" };
  const answer = await service.call("POST", "/v1/transactions", token, payment, {
    "idempotency-key": "paid",
  });
  return ((await answer.json()) as { id: string }).id;
}

it("records refused webhook URLs, and requests for objects that do not exist for the client", async () => {
  const token = await service.token(await service.createTenant());
  const [url, transaction, wallet] = [
    "https://169.254.169.254/latest",
    "/v1/transactions/tx_01hw000000e008000000000001",
    "wlt_01hw000000e008000000000001",
  ];
  const payment = { reference: "r", asset: "USD", amount: "1", source: { wallet_id: wallet } };
  const statuses = [
    await service.call("POST", "/v1/webhook-endpoints", token, { url }, { "idempotency-key": "hook" }),
    await service.call("POST", "/v1/transactions", token, payment, { "idempotency-key": "pay" }),
    await service.call("POST", `${transaction}/cancel`, token),
    await service.call("GET", transaction, token),
  ].map(({ status }) => status);
  expect(statuses).toEqual([422, 422, 404, 404]);
  const entries = await eventually(
    async () => (await read(token)).filter(({ outcome }) => outcome === "refused"),
    (found) => found.length === 4,
  );
  const shown = entries.map(({ action, code, object }) => [action, code, object]);
  expect(shown.toSorted()).toEqual([
    ["GET /v1/transactions/:id", "TRANSACTION_NOT_FOUND", null],
    ["POST /v1/transactions", "WALLET_UNKNOWN", null],
    ["POST /v1/transactions/:id/cancel", "TRANSACTION_NOT_FOUND", "tx_01hw000000e008000000000001"],
    ["POST /v1/webhook-endpoints", "WEBHOOK_URL_REFUSED", null],
  ]);
});

it("records the search for wallets in a batch, and a decision on another change than the one that was seen", async () => {
  const owner = await service.createTenant();
  const token = await service.token(owner);
  const source = { wallet_id: "wlt_01hw000000e008000000000001" };
  const items = [1, 2, 3].map((count) => ({
    ...{ idempotency_key: `key-${count}`, reference: "r", asset: "USD", amount: "1", source },
  }));
  const batch = await service.call("POST", "/v1/transactions/batch", token, { transactions: items });
  expect(batch.status).toBeLessThan(300);
  const { clientId } = await service.createIndependentClient(owner, ["transactions:approve"]);
  const asked = { kind: "client.change", change: { client_id: clientId, state: "disabled" } };
  const request = await service.call("POST", "/v1/change-requests", token, asked);
  const { id } = (await request.json()) as { id: string };
  const decider = await service.createIndependentClient(owner, ["clients:manage"]);
  const body = { digest: "0".repeat(64) };
  const path = `/v1/change-requests/${id}/approve`;
  expect((await service.call("POST", path, decider.token, body)).status).toBe(409);
  // A decision that comes too late: there is nothing to decide any more.
  const late = `/v1/transactions/${await paid(token)}/approvals`;
  const approver = await service.createIndependentClient(owner, ["transactions:approve"]);
  const decision = { decision: "approve", digest: "0".repeat(64) };
  expect((await service.call("POST", late, approver.token, decision)).status).toBe(409);
  const entries = await eventually(
    async () => (await read(token)).filter(({ outcome }) => outcome === "refused"),
    (found) => found.length === 3,
    10_000,
  );
  expect(entries.map(({ code, object, repeated }) => [code, object, repeated]).toSorted()).toEqual([
    ["CHANGE_REQUEST_STALE", id, 1],
    ["NOT_AWAITING_APPROVAL", expect.stringMatching(/^tx_/), 1],
    ["WALLET_UNKNOWN", null, 3],
  ]);
});

it("records a change of the policy that is refused as invalid, and no dry run", async () => {
  const token = await service.token(await service.createTenant());
  const document = { rules: [], default: { action: "maybe" } };
  const evaluated = { document, transaction: { reference: "r", asset: "USD", amount: "1" } };
  const dryRun = await service.call("POST", "/v1/policy/evaluate", token, evaluated);
  const change = await service.call("PUT", "/v1/policy", token, document, { "if-match": '"0"' });
  expect([dryRun.status, change.status]).toEqual([422, 422]);
  const entries = await eventually(
    async () => (await read(token)).filter(({ outcome }) => outcome === "refused"),
    (found) => found.length > 0,
    10_000,
  );
  expect(entries.map(({ action, code }) => [action, code])).toEqual([["PUT /v1/policy", "POLICY_INVALID"]]);
});
