import { beforeAll, describe, expect, it } from "vitest";
import { sharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await sharedService();

describe("scopes that were one", () => {
  let owner: TestClient;
  let walletId: string;
  beforeAll(async () => {
    owner = await service.createTenant();
    const wallets = await service.call("GET", "/v1/wallets", await service.token(owner));
    walletId = ((await wallets.json()) as { data: [{ id: string }] }).data[0].id;
  });
  const statusOf = async (scope: string, method: string, path: string, body?: unknown) =>
    (await service.call(method, path, await service.token(owner, scope), body)).status;
  const destination = { label: "mine", network: "eip155:1", address: `0x${"2".repeat(40)}` };

  it("do not let a client that creates wallets freeze or unfreeze one", async () => {
    expect(await statusOf("wallets:freeze", "POST", `/v1/wallets/${walletId}/freeze`)).toBe(200);
    for (const scope of ["wallets:write", "wallets:freeze"])
      expect(await statusOf(scope, "POST", `/v1/wallets/${walletId}/unfreeze`)).toBe(403);
    expect(await statusOf("wallets:write", "POST", `/v1/wallets/${walletId}/freeze`)).toBe(403);
    expect(await statusOf("wallets:unfreeze", "POST", `/v1/wallets/${walletId}/freeze`)).toBe(403);
    expect(await statusOf("wallets:unfreeze", "POST", `/v1/wallets/${walletId}/unfreeze`)).toBe(200);
  });

  it("do not let a client that replaces the policy add or remove a destination", async () => {
    expect(await statusOf("policies:manage", "POST", "/v1/destinations", destination)).toBe(403);
    const added = await service.call(
      "POST",
      "/v1/destinations",
      await service.token(owner, "destinations:manage"),
      destination,
    );
    expect(added.status).toBe(201);
    const { id } = (await added.json()) as { id: string };
    expect(await statusOf("policies:manage", "DELETE", `/v1/destinations/${id}`)).toBe(403);
    expect(await statusOf("destinations:manage", "DELETE", `/v1/destinations/${id}`)).toBe(204);
  });

  it("let a client that reads the policy do no more than that", async () => {
    expect(await statusOf("policies:read", "GET", "/v1/policy")).toBe(200);
    expect(await statusOf("policies:read", "GET", "/v1/destinations")).toBe(200);
    expect(await statusOf("policies:read", "PUT", "/v1/policy", {})).toBe(403);
    expect(await statusOf("policies:manage", "GET", "/v1/policy")).toBe(403);
    expect(await statusOf("destinations:manage", "GET", "/v1/destinations")).toBe(403);
  });

  it("do not let a client that reads the policy find out what others have paid", async () => {
    const other = await service.createIndependentClient(owner, ["transactions:write"]);
    const sum = { asset: "USD", per: "client", period_seconds: 86_400, above: "10" };
    const rule = { name: "probe", when: { sum }, action: "reject", reason: "more" };
    const probe = {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      client_id: other.clientId,
      document: { rules: [rule], default: { action: "allow" } },
    };
    expect(await statusOf("policies:read", "POST", "/v1/policy/evaluate", probe)).toBe(403);
    expect(await statusOf("policies:read transactions:read", "POST", "/v1/policy/evaluate", probe)).toBe(200);
    const { document: _, ...inForce } = probe;
    expect(await statusOf("policies:read", "POST", "/v1/policy/evaluate", inForce)).toBe(200);
  });
});
