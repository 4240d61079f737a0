import { request } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

/** Sends the headers of a request, waits until the service has accepted them, and sends the body after `meanwhile`. */
function sendSlowly(
  method: string,
  path: string,
  token: string,
  body: object,
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const content = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": content.length,
    expect: "100-continue",
  };
  return new Promise((resolve, reject) => {
    const sending = request(service.url + path, { method, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sending.on("error", reject);
    sending.on("continue", () => {
      meanwhile().then(() => sending.end(content), reject);
    });
    sending.flushHeaders();
  });
}

describe("a client that is disabled while it sends a request", () => {
  let caller: TestClient & { token: string };
  let owner: string;
  beforeEach(async () => {
    const tenant = await service.createTenant();
    owner = await service.token(tenant);
    caller = await service.createIndependentClient(tenant, [
      "clients:manage",
      "transactions:approve",
      "deposits:write",
    ]);
    // The token is known from here on.
    expect((await service.call("GET", "/v1/me", caller.token)).status).toBe(200);
  });
  const disable = () => service.changeAsOperator(caller, { state: "disabled" });
  const read = async () =>
    (await (await service.call("GET", `/v1/clients/${caller.clientId}`, owner)).json()) as {
      state: string;
      secrets: unknown[];
    };

  it("cannot enable itself", async () => {
    const path = `/v1/clients/${caller.clientId}`;
    expect(await sendSlowly("PATCH", path, caller.token, { state: "active" }, disable)).toBe(401);
    expect((await read()).state).toBe("disabled");
  });

  it("cannot make itself a new secret", async () => {
    const path = `/v1/clients/${caller.clientId}/secrets`;
    expect(await sendSlowly("POST", path, caller.token, { overlap_seconds: 60 }, disable)).toBe(401);
    expect((await read()).secrets).toHaveLength(1);
  });

  it("cannot create a client", async () => {
    const body = { name: "made", scopes: [] };
    expect(await sendSlowly("POST", "/v1/clients", caller.token, body, disable)).toBe(401);
  });

  it("cannot change clients with a scope that it has lost", async () => {
    const lose = () => service.changeAsOperator(caller, { scopes: ["transactions:approve"] });
    const body = { name: "made", scopes: [] };
    expect(await sendSlowly("POST", "/v1/clients", caller.token, body, lose)).toBe(403);
  });

  it("cannot undo it by a process that still has the old state in its cache", async () => {
    const other = await service.another();
    try {
      const path = `/v1/clients/${caller.clientId}`;
      expect((await other.call("GET", "/v1/me", caller.token)).status).toBe(200);
      await disable();
      expect((await other.call("PATCH", path, caller.token, { state: "active" })).status).toBe(401);
      const made = await other.call("POST", `${path}/secrets`, caller.token, { overlap_seconds: 60 });
      expect(made.status).toBe(401);
      const created = await other.call("POST", "/v1/clients", caller.token, { name: "made", scopes: [] });
      expect(created.status).toBe(401);
      const destination = { wallet_id: "wlt_01h455vb4pex5vsknk084sn02q" };
      const money = { reference: "r", asset: "USD", amount: "1", destination };
      const headers = { "idempotency-key": "k" };
      expect((await other.call("POST", "/v1/deposits", caller.token, money, headers)).status).toBe(401);
      const { state, secrets } = await read();
      expect([state, secrets.length]).toEqual(["disabled", 1]);
    } finally {
      await other.stop();
    }
  });
});
