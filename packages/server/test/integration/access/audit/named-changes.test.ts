import { beforeEach, describe, expect, it } from "vitest";
import { sharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await sharedService();

describe("the audit log", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });
  const call = async (method: string, path: string, body?: object, as = token) =>
    (await (await service.call(method, path, as, body)).json()) as Record<string, unknown>;
  /** What the entries of an action name beside the object, oldest first. */
  const named = async (action: string, object: string) => {
    const { data } = await call("GET", `/v1/audit?action=${action}&object=${object}&limit=20`);
    return (data as { objects: string[] }[]).toReversed().map(({ objects: [first, ...rest] }) => {
      expect(first).toBe(object);
      return rest;
    });
  };

  it("names what a client was called and could do for a minute", async () => {
    const { id } = (await call("POST", "/v1/clients", { name: "K", scopes: ["wallets:read"] })) as {
      id: string;
    };
    for (const body of [
      { name: "Payroll (approved by the CFO) 100%" },
      { name: "K" },
      { scopes: ["wallets:read", "transactions:write"] },
      { scopes: ["wallets:read"], require_signature: true },
      { quotas: { read: { per_second: 7, burst: 9 } } },
      { state: "disabled" },
      { state: "disabled" },
    ])
      expect(await call("PATCH", `/v1/clients/${id}`, body)).toMatchObject({ id });
    expect(await named("client.create", id)).toEqual([["name:K", "scope_added:wallets:read"]]);
    expect(await named("client.change", id)).toEqual([
      ["name:Payroll%20(approved%20by%20the%20CFO)%20100%25", "name_before:K"],
      ["name:K", "name_before:Payroll%20(approved%20by%20the%20CFO)%20100%25"],
      ["scope_added:transactions:write"],
      ["require_signature:true", "require_signature_before:false", "scope_removed:transactions:write"],
      [expect.stringMatching(/^quotas:\{.*7.*9/), "quotas_before:{}"],
      ["state:disabled", "state_before:active"],
      [],
    ]);
  });

  it("names the kinds of events that an endpoint got for a minute", async () => {
    const url = "http://127.0.0.1:9/hooks";
    const made = await call("POST", "/v1/webhook-endpoints", { url, events: ["wallet.updated"] });
    const { id } = made as { id: string };
    for (const events of [["transaction.updated"], ["wallet.updated"]])
      await call("PATCH", `/v1/webhook-endpoints/${id}`, { events });
    expect(await named("webhook_endpoint.change", id)).toEqual([
      [url, "event_added:transaction.updated", "event_removed:wallet.updated"],
      [url, "event_added:wallet.updated", "event_removed:transaction.updated"],
    ]);
  });

  it("names the beginning of a name that is too long for an entry, which is intact", async () => {
    // Each of these spaces takes nine characters, so that the bound is in the middle of a surrogate pair.
    const name = `${"\u2003".repeat(88)}a${"\u{1F600}".repeat(10)}`;
    const { id } = (await call("POST", "/v1/clients", { name, scopes: ["wallets:read"] })) as { id: string };
    const [[long = ""] = []] = await named("client.create", id);
    expect(name.startsWith(decodeURIComponent(long.slice("name:".length)))).toBe(true);
    expect(long.length).toBeGreaterThan(700);
    const { data } = (await call("GET", "/v1/audit?limit=50")) as { data: { number: number }[] };
    expect(data.map(({ number }) => number)).toEqual(data.map((_, index) => data.length - index));
  });

  it("names the role and the scopes that a person got, also by the operator and by a change request", async () => {
    const body = { email: "a@x.example", name: "Ada", role: "viewer" };
    const { id } = (await call("POST", "/v1/people", body)) as { id: string };
    const invited = (await named("person.invite", id))[0] ?? [];
    expect(invited.slice(0, 3)).toEqual(["a@x.example", "name:Ada", "role:viewer"]);
    expect(invited).toContain("scope_added:wallets:read");
    await call("PATCH", `/v1/people/${id}`, { role: "approver" });
    const [changed = []] = await named("person.change", id);
    expect(changed.slice(0, 2)).toEqual(["role:approver", "role_before:viewer"]);
    expect(changed).toContain("scope_added:transactions:approve");
    await call("POST", "/v1/roles", { name: "reader", scopes: ["wallets:read"] });
    expect(await named("role.create", "reader")).toEqual([["scope_added:wallets:read"]]);

    const officer = await service.createIndependentClient(owner, ["transactions:approve", "clients:manage"]);
    const other = await service.createIndependentClient(owner, owner.client.scopes);
    const request = {
      kind: "client.change",
      change: { client_id: officer.clientId, require_signature: true },
    };
    const made = await call("POST", "/v1/change-requests", request);
    const path = `/v1/change-requests/${made["id"]}/approve`;
    expect(await call("POST", path, { digest: made["digest"] }, other.token)).toMatchObject({
      state: "applied",
    });
    await service.changeAsOperator(officer, { state: "disabled" });
    expect(await named("client.change", officer.clientId)).toEqual([
      ["require_signature:true", "require_signature_before:false"],
      ["state:disabled", "state_before:active"],
    ]);
  });
});
