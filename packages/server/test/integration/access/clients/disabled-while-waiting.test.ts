import { randomUUID } from "node:crypto";
import { tradingPolicy } from "@bursar/domain";
import { grantableScopes, readId, type Scope, showId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../../src/http/api.js";
import { insertStop } from "../../../../src/store/access/stops/stop-records.js";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { bodyOf, createObjects, pathOf } from "../../../harness/http/route-requests.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../../harness/webhooks/webhook-receiver.js";

const service = await inspectSharedService();

/** The routes that change something, from the routes themselves: a new one is tried automatically. */
const routes = listRoutes({} as never, "").filter(
  ({ method, access }) => method !== "GET" && access !== "open" && access !== "oauth",
);

/** What these do does not depend on a review at the end. A route that is not tried has to be added here, with the reason. */
const notTried: Readonly<Record<string, string>> = {
  createTransaction: "what a disabled client has requested is not settled",
  createTransactions: "what a disabled client has requested is not settled",
  placeOrder: "an order of a disabled client does not trade, and is cancelled",
  amendOrder: "an order only becomes smaller, and one of a disabled client is cancelled",
  cancelTransaction: "a stop",
  cancelOrder: "a stop",
  freezeWallet: "a stop",
  rejectChangeRequest: "a stop, which is reviewed when the request is locked",
  cancelChangeRequest: "a stop, which is reviewed when the request is locked",
  endOwnSession: "a stop",
  endSessionsOfPerson: "a stop",
  evaluatePolicy: "it changes nothing",
  testWebhookEndpoint: "it stores nothing, and sends a test event to an endpoint of the tenant",
  issueStreamTicket: "the ticket of a disabled client is refused",
  prepareOwnPasskey: "it stores nothing",
  addOwnPasskey: "only people have passkeys; it is written as changeClient is, with the same review",
  renameOwnPasskey: "only people have passkeys; it is written as changeClient is, with the same review",
  removeOwnPasskey: "only people have passkeys; it is written as changeClient is, with the same review",
  rotateOwnSecret: "a disabled client gets no token, whatever its secrets are",
};

const tried = routes.filter(({ operationId }) => !Object.hasOwn(notTried, operationId));

/** What is used of the objects that the owner makes first. */
interface Made {
  id: string;
  state: string;
  digest: string;
  key: { id: string };
  secrets: [{ id: string }];
  approval: { digest: string };
}

const allScopes: Scope[] = [...grantableScopes, "deposits:write"];

describe("a client that is disabled while its request waits for the audit log", () => {
  let owner: TestClient;
  let tenantId: string;
  let objects: Record<string, string>;
  let bodies: Record<string, object>;
  /** Other objects for single routes. */
  let ofRoute: Record<string, Record<string, string>>;
  /** One for each route, older than what they approve. */
  const insiders = new Map<string, TestClient & { token: string }>();
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    owner = await service.createTenant("1000");
    tenantId = readId("tnt", owner.tenantId) ?? "";
    const token = await service.token(owner);
    const call = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
      (await (await service.call(method, path, token, body, headers)).json()) as Made;
    for (const { operationId } of tried)
      insiders.set(operationId, await service.createIndependentClient(owner, allScopes));
    const all = await createObjects(service, token, owner.clientId);
    // One that is not protected, so that others can change its credentials.
    const program = await call("POST", "/v1/clients", { name: "program", scopes: ["wallets:read"] });
    const { key } = await call("POST", `/v1/clients/${program.id}/keys`, { algorithm: "hmac-sha256" });
    receiver = await startWebhookReceiver();
    const unverified = await call("POST", "/v1/webhook-endpoints", { url: receiver.url });
    const onChain = await call("POST", "/v1/wallets", { name: "on a chain", purpose: "payout" });
    const frozen = await call("POST", "/v1/wallets", { name: "frozen", purpose: "payout" });
    await call("POST", `/v1/wallets/${frozen.id}/freeze`);
    await call("POST", "/v1/roles", { name: "unused", scopes: ["wallets:read"] });
    const rules = [
      {
        name: "asked",
        when: { amount: { asset: "USD", min: "100" } },
        action: "require_approval",
        approvals: 1,
      },
    ];
    await call(
      "PUT",
      "/v1/policy",
      { ...tradingPolicy, rules: [...rules, ...tradingPolicy.rules] },
      { "if-match": '"1"' },
    );
    const paid = await call(
      "POST",
      "/v1/transactions",
      { reference: "r", asset: "USD", amount: "100" },
      { "idempotency-key": "asked" },
    );
    const asked = await eventually(
      () => call("GET", `/v1/transactions/${paid.id}`),
      ({ state }) => state === "awaiting_approval",
    );
    const change = { kind: "client.change", change: { client_id: program.id, require_signature: true } };
    const { digest } = await call("GET", `/v1/change-requests/${all["change-requests"]}`);
    objects = {
      ...all,
      clients: program.id,
      keys: key.id,
      secrets: program.secrets[0].id,
      roles: "unused",
      transactions: paid.id,
    };
    bodies = {
      createDeposit: {
        reference: "r",
        asset: "USD",
        amount: "1",
        destination: { wallet_id: all["wallets"] },
      },
      decideApproval: { decision: "approve", digest: asked.approval.digest },
      createDestination: { label: "x", network: "eip155:1", address: `0x${"7".repeat(40)}` },
      createRole: { name: "another", scopes: ["wallets:read"] },
      invitePerson: { email: "another@people.example", name: "another", role: "viewer" },
      createChangeRequest: change,
      approveChangeRequest: { digest },
      replayWebhooks: { endpoint_id: all["webhook-endpoints"], from_sequence: 1 },
    };
    const failed = randomUUID();
    // As if the payment were on its way.
    const walletId = readId("wlt", onChain.id);
    await service.database.query(sql`
      INSERT INTO chain_wallets (tenant_id, wallet_id, network, address, shown, next_nonce)
      VALUES (${tenantId}, ${walletId}, 'eip155:none', ${walletId}, ${walletId}, 1)
    `);
    await service.database.query(sql`
      INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage, nonce, gas_limit, max_fee, max_tip, terms_number)
      VALUES (${tenantId}, ${readId("tx", paid.id)}, 'eip155:none', ${walletId}, 'signed', 0, 21000, 1, 1, 1)
    `);
    await service.database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at, failures, last_error)
      VALUES (${tenantId}, ${failed}, ${randomUUID()}, 1, 'transaction.updated', 'infinity', 1, 'it failed')
    `);
    ofRoute = {
      retryFailure: { failures: showId("dlv", failed) },
      verifyWebhookEndpoint: { "webhook-endpoints": unverified.id },
      unfreezeWallet: { wallets: frozen.id },
    };
  });
  afterAll(async () => {
    await receiver?.stop();
    // Others audit what this service pays on chains.
    await service.database.query(sql`DELETE FROM chain_payments WHERE tenant_id = ${tenantId}`);
    await service.database.query(sql`DELETE FROM chain_wallets WHERE tenant_id = ${tenantId}`);
  });

  it("is tried on every route that changes something", () => {
    expect(routes.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(Object.keys(notTried)),
    );
  });

  it.each(tried.map((route) => [route.operationId, route] as const))(
    "does nothing: %s",
    async (operationId, route) => {
      const insider = insiders.get(operationId);
      const clientId = readId("cli", insider?.clientId ?? "") ?? "";
      const path = pathOf(route, { ...objects, ...ofRoute[operationId] });
      const headers = { "idempotency-key": clientId, "if-match": '"2"' };
      let isAnswered = false;
      // The recorder of what is written later holds its lock on audit_writes.
      const waiting = () =>
        service.database.query(sql`
        SELECT FROM pg_stat_activity a WHERE a.wait_event_type = 'Lock' AND a.datname = current_database()
          AND a.query LIKE '%audit_heads%' AND NOT EXISTS (
            SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.relation = 'audit_writes'::regclass)`);
      const { acting, hasWaited } = await service.database.transaction(async (tx) => {
        await tx.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
        const acting = service
          .call(route.method, path, insider?.token, bodies[operationId] ?? bodyOf(route), headers)
          .finally(() => {
            isAnswered = true;
          });
        const found = await eventually(waiting, (rows) => rows.length > 0 || isAnswered);
        // As it is recorded if something else keeps the rest from being written.
        await tx.query(insertStop({ tenantId, subjectId: clientId }));
        return { acting, hasWaited: found.length > 0 };
      });
      const answer = await acting;
      expect([hasWaited, answer.status], await answer.text()).toEqual([true, 401]);
    },
  );
});
