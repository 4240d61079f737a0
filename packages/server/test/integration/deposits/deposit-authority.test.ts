import type { Scope } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { newKeyPair } from "../../harness/http/signed-call.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createDepositTenant } from "../../harness/transactions/deposits-client.js";
import type { Answer } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();
const refusal = ({ status, body }: Answer) => [status, body.error?.code];
const beyond = [403, "INSUFFICIENT_SCOPE"];

describe("the right to create money", () => {
  it("is not held by the first client of a tenant", async () => {
    const { admin, bodyOf } = await createDepositTenant(service);
    const answer = await admin.send("POST", "/v1/deposits", bodyOf(), { "idempotency-key": "k" });
    expect(refusal(answer)).toEqual(beyond);
    const me = (await admin.send("GET", "/v1/me")).text;
    expect(me).not.toContain("deposits:write");
  });

  it("cannot be given by a client that manages clients, to a new client, another client or itself", async () => {
    const { owner, admin } = await createDepositTenant(service);
    const puppet = await admin.send("POST", "/v1/clients", { name: "puppet", scopes: [] });
    const scopes: Scope[] = ["deposits:write"];
    const attempts = [
      await admin.send("POST", "/v1/clients", { name: "mint", scopes }),
      await admin.send("PATCH", `/v1/clients/${puppet.body.id}`, { scopes }),
      await admin.send("PATCH", `/v1/clients/${owner.clientId}`, { scopes: ["clients:manage", ...scopes] }),
    ];
    for (const attempt of attempts) expect(refusal(attempt)).toEqual(beyond);
    expect(attempts[0]?.body.error?.message).toContain("Only the operator grants deposits:write");
  });

  it("cannot be given by a change request either", async () => {
    const { owner, admin } = await createDepositTenant(service);
    for (const clientId of [
      owner.clientId,
      (await admin.send("POST", "/v1/clients", { name: "p", scopes: [] })).body.id,
    ]) {
      const change = { client_id: clientId, scopes: ["deposits:write"] };
      const asked = await admin.send("POST", "/v1/change-requests", { kind: "client.change", change });
      expect(refusal(asked)).toEqual(beyond);
    }
  });

  it("cannot be passed on by a client that holds it and manages clients, even as a single administrator", async () => {
    const both: Scope[] = ["deposits:write", "clients:manage", "transactions:read", "wallets:read"];
    const { owner, bank } = await createDepositTenant(service, both);
    await service.setSingleAdministrator(owner, true);
    const puppet = await bank.send("POST", "/v1/clients", { name: "puppet", scopes: ["wallets:read"] });
    expect(puppet.status).toBe(201);
    const scopes: Scope[] = ["deposits:write"];
    expect(refusal(await bank.send("POST", "/v1/clients", { name: "copy", scopes }))).toEqual(beyond);
    const changed = await bank.send("PATCH", `/v1/clients/${puppet.body.id}`, { scopes });
    expect(refusal(changed)).toEqual(beyond);
    const change = { client_id: puppet.body.id, scopes };
    const asked = await bank.send("POST", "/v1/change-requests", { kind: "client.change", change });
    expect(refusal(asked)).toEqual(beyond);
  });

  it("cannot be used through a credential that another client adds to its holder", async () => {
    const { owner, admin, bank } = await createDepositTenant(service);
    const path = `/v1/clients/${bank.clientId}`;
    const { publicKey: public_key } = newKeyPair();
    const key = { algorithm: "ed25519", public_key };
    const take = async () => [
      await admin.send("POST", `${path}/secrets`, {}),
      await admin.send("POST", `${path}/keys`, key),
      await admin.send("PATCH", path, { require_signature: false, name: "mine" }),
      await admin.send("POST", "/v1/change-requests", {
        kind: "client.key.add",
        change: { client_id: bank.clientId, public_key },
      }),
    ];
    for (const attempt of await take()) expect(refusal(attempt)).toEqual(beyond);
    await service.setSingleAdministrator(owner, true);
    for (const attempt of await take()) expect(refusal(attempt)).toEqual(beyond);
  });

  it("does not make its holder an approver of changes, and its holder is protected from another holder", async () => {
    const both: Scope[] = ["deposits:write", "clients:manage", "transactions:read", "wallets:read"];
    const { owner, bank } = await createDepositTenant(service);
    expect(refusal(await bank.send("GET", "/v1/change-requests"))).toEqual(beyond);
    const other = await service.createIndependentClient(owner, both, "other bank");
    const added = await service.call("POST", `/v1/clients/${bank.clientId}/secrets`, other.token, {});
    expect(await added.json()).toMatchObject({ error: { code: "CHANGE_REQUEST_REQUIRED" } });
  });
});
