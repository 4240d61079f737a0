import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { sharedService } from "../../../harness/service/shared-service.js";

const service = await sharedService();

interface Shown {
  id: string;
  secret: string;
  secrets: { id: string; expires_at: string | null; last_used_at: string | null }[];
  keys: { id: string; expires_at: string | null; last_used_at: string | null }[];
}

describe("a credential", () => {
  let token: string;
  let made: Shown;
  beforeEach(async () => {
    token = await service.token(await service.createTenant());
    const response = await service.call("POST", "/v1/clients", token, {
      name: "made",
      scopes: ["audit:read"],
    });
    made = (await response.json()) as Shown;
  });
  const read = async () =>
    (await (await service.call("GET", `/v1/clients/${made.id}`, token)).json()) as Shown;
  const login = (secret = made.secret) => service.token({ clientId: made.id, secret });
  const status = async (as: string) => (await service.call("GET", "/v1/audit", as)).status;
  const rotate = async (body: object) => {
    const response = await service.call("POST", `/v1/clients/${made.id}/secrets`, token, body);
    return { status: response.status, body: (await response.json()) as { secret: string; client: Shown } };
  };

  it("that is removed ends the tokens that were issued with it, and no others", async () => {
    const old = await login();
    const { body } = await rotate({ overlap_seconds: 3600 });
    const current = await login(body.secret);
    expect([await status(old), await status(current)]).toEqual([200, 200]);
    await service.call("DELETE", `/v1/clients/${made.id}/secrets/${made.secrets[0]?.id}`, token);
    expect([await status(old), await status(current)]).toEqual([401, 200]);
  });

  it("that is replaced without an overlap ends its tokens", async () => {
    const old = await login();
    expect(await status(old)).toBe(200);
    await rotate({ overlap_seconds: 0 });
    expect(await status(old)).toBe(401);
  });

  it("shows when it was last used", async () => {
    expect((await read()).secrets[0]?.last_used_at).toBeNull();
    await login();
    const { secrets } = await eventually(read, (client) => client.secrets[0]?.last_used_at !== null);
    expect(Date.parse(secrets[0]?.last_used_at ?? "")).toBeGreaterThan(Date.now() - 600_000);
    // Using it does not count as a change of the client by somebody else.
    expect(await status(await login())).toBe(200);
  });

  it("can be given an expiry, and stops working then, as do its tokens", async () => {
    const expires_at = new Date(Date.now() + 3000).toISOString();
    const { body } = await rotate({ expires_at, overlap_seconds: 3600 });
    expect(body.client.secrets.at(-1)?.expires_at).toBe(expires_at);
    const issued = await login(body.secret);
    await eventually(
      () => status(issued),
      (answer) => answer === 401,
    );
    await expect(login(body.secret)).rejects.toThrow("failed");
    expect(await status(await login())).toBe(200);
  });

  it("cannot be given an expiry in the past", async () => {
    expect((await rotate({ expires_at: "2020-01-01T00:00:00Z" })).status).toBe(400);
    const key = { algorithm: "hmac-sha256", expires_at: "2020-01-01T00:00:00Z" };
    expect((await service.call("POST", `/v1/clients/${made.id}/keys`, token, key)).status).toBe(400);
  });

  it("that is a key can expire too", async () => {
    const expires_at = new Date(Date.now() + 2000).toISOString();
    const key = { algorithm: "hmac-sha256", expires_at };
    const added = await service.call("POST", `/v1/clients/${made.id}/keys`, token, key);
    expect(((await added.json()) as { key: Shown["keys"][number] }).key.expires_at).toBe(expires_at);
    await eventually(read, ({ keys }) => keys.length === 0);
    expect(await status(await login())).toBe(200);
  });
});
