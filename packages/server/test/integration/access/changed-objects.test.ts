import type { Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import type { Route } from "../../../src/http/route.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { createTrader } from "../../harness/markets/trader.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

const routes = listRoutes({} as never, "");
const scopesOf = ({ access }: Route) => (typeof access === "string" ? [access] : access);

/** The objects that a schema shows: its own name, or those of a union. */
function objectsOf({ schema }: Route["success"]): string[] {
  const { $id, anyOf } = schema as { $id?: string; anyOf?: { $id?: string }[] };
  return [$id, ...(anyOf ?? []).map((one) => one.$id)].filter((name) => name !== undefined);
}

/** The scopes that read an object, if some do: a route that answers with nothing else. */
const readers = new Map(
  routes
    .filter(({ method }) => method === "GET")
    .map((route) => [objectsOf(route.success)[0] ?? "", scopesOf(route) as readonly string[]]),
);

/** What a client shows itself by creating it is what it has sent. */
const creating = [
  "createDeposit",
  "createDestination",
  "createTransaction",
  "createWallet",
  "placeOrder",
  "replacePolicy",
];
/** Needs a payment that a chain has not included. Its schema is that of a cancelled transaction. */
const ofChains = "speedUpTransaction";

describe("a route that changes an object that only another scope reads", () => {
  const changing = routes.filter((route) => {
    const isRead = (name: string) => {
      const scopes = readers.get(name);
      return scopes !== undefined && !scopes.some((scope) => (scopesOf(route) as string[]).includes(scope));
    };
    return route.method !== "GET" && objectsOf(route.success).some(isRead);
  });
  const changed = changing.filter(({ operationId }) => !creating.includes(operationId));
  it("is one of these", () => {
    expect(changing.map(({ operationId }) => operationId).toSorted()).toEqual(
      [
        ...creating,
        ...["amendOrder", "cancelOrder", "cancelTransaction", "decideApproval", ofChains],
        ...["freezeWallet", "unfreezeWallet"],
      ].toSorted(),
    );
  });

  it.each(changed.map((route) => [route.operationId, route.success] as const))(
    "documents that %s answers a client without that scope with a summary",
    (_, success) => expect(objectsOf(success)).toHaveLength(3),
  );

  describe("answers a client without that scope with no more than the state", () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService();
    });
    afterAll(() => service.stop());

    const send = async (client: TestClient, scope: Scope, method: string, path: string, body?: object) => {
      const response = await service.call(method, path, await service.token(client, scope), body);
      return { status: response.status, body: await response.json() };
    };

    it.each([
      ["amendOrder", "PATCH", "", { size: "1" }],
      ["cancelOrder", "DELETE", "", undefined],
    ])("%s, also when the order has ended", async (_, method, suffix, body) => {
      const trader = await createTrader(service, { ETH: "10" });
      const { id } = await trader.placed({ side: "sell", price: "100", size: "2", reference: "secret" });
      const change = () => send(trader.owner, "orders:write", method, `/v1/orders/${id}${suffix}`, body);
      expect(await change()).toEqual({ status: 202, body: { id, object: "order", state: "open" } });
      await trader.send("DELETE", `/v1/orders/${id}`);
      await trader.until(id, ({ state }) => state === "cancelled");
      const repeated = await change();
      if (method === "DELETE")
        expect(repeated).toEqual({ status: 202, body: { id, object: "order", state: "cancelled" } });
      else expect(repeated.status).toBe(409);
    });

    it("freezeWallet and unfreezeWallet", async () => {
      const owner = await service.createTenant("1000");
      const { data } = (await send(owner, "wallets:read", "GET", "/v1/wallets")).body as {
        data: { id: string }[];
      };
      const id = data[0]?.id ?? "";
      const wallet = { id, object: "wallet", state: "active" };
      const freeze = await send(owner, "wallets:freeze", "POST", `/v1/wallets/${id}/freeze`, {});
      expect(freeze).toEqual({ status: 200, body: { ...wallet, frozen: true } });
      const unfreeze = await send(owner, "wallets:unfreeze", "POST", `/v1/wallets/${id}/unfreeze`);
      expect(unfreeze).toEqual({ status: 200, body: { ...wallet, frozen: false } });
    });

    it("decideApproval and cancelTransaction", async () => {
      const { admin, hire, pay, approve } = await createGuardedTenant(service, 2);
      const approver = await hire(["transactions:approve"]);
      const payment = await pay(admin);
      const transaction = { id: payment.id, object: "transaction" };
      const approved = await approve(approver, payment);
      expect(approved).toMatchObject({ status: 202 });
      expect(approved.body).toEqual({ ...transaction, state: "awaiting_approval" });
      const path = `/v1/transactions/${payment.id}/cancel`;
      const cancelled = await service.call("POST", path, await service.token(admin, "transactions:write"));
      expect(cancelled.status).toBe(202);
      expect(await cancelled.json()).toEqual({ ...transaction, state: "cancelled" });
    });
  });
});
