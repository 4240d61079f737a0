import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { newKeyPair, signedPost } from "../../../harness/http/signed-call.js";
import { sharedService } from "../../../harness/service/shared-service.js";

const service = await sharedService();

interface Made {
  id: string;
  secret: string;
}
interface Rotated {
  secret: string | null;
  client: { authority_changed_by: string; secrets: { expires_at: string | null }[] };
}

describe("a client without clients:manage", () => {
  let admin: string;
  let made: Made;
  let token: string;

  beforeEach(async () => {
    admin = await service.token(await service.createTenant());
    const body = { name: "made", scopes: ["audit:read", "wallets:read"] };
    made = (await (await service.call("POST", "/v1/clients", admin, body)).json()) as Made;
    token = await login(made.secret);
  });

  const login = (secret: string, scope?: string) => service.token({ clientId: made.id, secret }, scope);
  const rotate = (body: object, as = token, headers = {}) =>
    service.call("POST", "/v1/me/secrets", as, body, headers);
  const codeOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { error: { code: string } }).error.code,
  ];
  const statusOf = async (as: string) => (await service.call("GET", "/v1/me", as)).status;
  const unproven = [403, "CREDENTIAL_PROOF_REQUIRED"];

  it("cannot get a new secret with its access token alone", async () => {
    expect(await codeOf(await rotate({}))).toEqual(unproven);
    expect(await codeOf(await rotate({ overlap_seconds: 0 }))).toEqual(unproven);
    expect(await codeOf(await rotate({ current_secret: `${made.secret}x` }))).toEqual(unproven);
    expect(await statusOf(await login(made.secret))).toBe(200);
  });

  it("rotates its secret with the current one, which stays valid for the overlap", async () => {
    const response = await rotate({ current_secret: made.secret, overlap_seconds: 3600 });
    const { secret, client } = (await response.json()) as Rotated;
    expect(response.status).toBe(201);
    expect(client.authority_changed_by).toBe(made.id);
    expect(client.secrets.filter(({ expires_at }) => expires_at !== null)).toHaveLength(1);
    expect(await statusOf(await login(secret ?? ""))).toBe(200);
    expect(await statusOf(await login(made.secret))).toBe(200);
  });

  it("ends the old secret and its tokens at once without an overlap", async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const response = await rotate({ current_secret: made.secret, overlap_seconds: 0, expires_at });
    const { secret, client } = (await response.json()) as Rotated;
    expect(client.secrets).toMatchObject([{ expires_at }]);
    expect(await statusOf(token)).toBe(401);
    await expect(login(made.secret)).rejects.toThrow("failed");
    const current = await login(secret ?? "");
    expect(await codeOf(await rotate({ current_secret: made.secret }, current))).toEqual(unproven);
  });

  const rotated = async (body: object, as = token) => {
    const response = await rotate(body, as);
    expect(response.status).toBe(201);
    return ((await response.json()) as Rotated).secret ?? "";
  };
  const endsIn = (ms: number) => new Date(Date.now() + ms).toISOString();

  it("cannot make a secret that has been replaced last, nor end the one that replaced it, used or not", async () => {
    const next = await rotated({ current_secret: made.secret, overlap_seconds: 3600 });
    const thief = await login(made.secret);
    const attacks = [{}, { overlap_seconds: 0 }, { expires_at: endsIn(60_000) }];
    for (const attack of attacks)
      expect(await codeOf(await rotate({ current_secret: made.secret, ...attack }, thief))).toEqual(unproven);
    const current = await login(next);
    expect(await statusOf(current)).toBe(200);
    // At once: when it was used is written later, with others.
    expect(await codeOf(await rotate({ current_secret: made.secret }, thief))).toEqual(unproven);
    const last = await rotated({ current_secret: next, overlap_seconds: 0 }, current);
    expect(await statusOf(await login(last))).toBe(200);
  });

  it("cannot make a secret that expires last by a successor that expires sooner", async () => {
    const limited = await rotated({
      current_secret: made.secret,
      overlap_seconds: 0,
      expires_at: endsIn(3_600_000),
    });
    const as = await login(limited);
    const sooner = await rotated({ current_secret: limited, expires_at: endsIn(1_800_000) }, as);
    for (const current_secret of [limited, sooner])
      expect(await codeOf(await rotate({ current_secret }, as))).toEqual(unproven);
    // The newest can still be replaced within its own time.
    expect(await statusOf(await login(sooner))).toBe(200);
    await rotated({ current_secret: sooner, expires_at: endsIn(600_000) }, as);
  });

  it("gets from a key that expires only a secret that expires no later", async () => {
    const { privateKey, publicKey } = newKeyPair();
    const key = { algorithm: "ed25519", public_key: publicKey, expires_at: endsIn(3_600_000) };
    const added = await service.call("POST", `/v1/clients/${made.id}/keys`, admin, key);
    const { id: keyId } = ((await added.json()) as { key: { id: string } }).key;
    const send = (body: object) =>
      signedPost(`${service.url}/v1/me/secrets`, token, { keyId, privateKey }, body);
    expect(await codeOf(await send({}))).toEqual(unproven);
    expect((await send({ expires_at: endsIn(1_800_000) })).status).toBe(201);
  });

  it("cannot outlive a secret that expires", async () => {
    const inOneHour = new Date(Date.now() + 3_600_000).toISOString();
    const limited = await rotate({ current_secret: made.secret, overlap_seconds: 0, expires_at: inOneHour });
    const current_secret = ((await limited.json()) as Rotated).secret ?? "";
    const as = await login(current_secret);
    expect(await codeOf(await rotate({ current_secret }, as))).toEqual(unproven);
    const later = new Date(Date.now() + 7_200_000).toISOString();
    expect(await codeOf(await rotate({ current_secret, expires_at: later }, as))).toEqual(unproven);
    expect((await rotate({ current_secret, expires_at: inOneHour }, as)).status).toBe(201);
  });

  it("needs a token with all of its scopes, so that a narrowed one cannot be widened", async () => {
    const narrow = await login(made.secret, "audit:read");
    const refused = await rotate({ current_secret: made.secret }, narrow);
    expect(await codeOf(refused)).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });

  it("cannot use the secret of another client as its proof", async () => {
    const body = { name: "other", scopes: ["audit:read", "wallets:read"] };
    const other = (await (await service.call("POST", "/v1/clients", admin, body)).json()) as Made;
    expect(await codeOf(await rotate({ current_secret: other.secret }))).toEqual(unproven);
  });

  it("rotates its secret with a signed request, until the key is removed", async () => {
    const { privateKey, publicKey } = newKeyPair();
    const keys = `/v1/clients/${made.id}/keys`;
    const added = await service.call("POST", keys, admin, { algorithm: "ed25519", public_key: publicKey });
    const { id: keyId } = ((await added.json()) as { key: { id: string } }).key;
    const send = (body: object) =>
      signedPost(`${service.url}/v1/me/secrets`, token, { keyId, privateKey }, body);
    const response = await send({ overlap_seconds: 3600 });
    expect(response.status).toBe(201);
    expect(await statusOf(await login(((await response.json()) as Rotated).secret ?? ""))).toBe(200);
    // A wrong secret is not excused by the signature.
    expect(await codeOf(await send({ current_secret: "wrong" }))).toEqual(unproven);
    await service.call("DELETE", `${keys}/${keyId}`, admin);
    expect((await codeOf(await send({})))[0]).toBe(401);
  });

  it("gets no second secret for the same idempotency key, and needs its proof for that too", async () => {
    const keyed = { "idempotency-key": "rotation-1" };
    const first = await rotate({ current_secret: made.secret }, token, keyed);
    expect(((await first.json()) as Rotated).secret).toMatch(/^bsk_/);
    const again = await rotate({ current_secret: made.secret }, token, keyed);
    expect([again.status, ((await again.json()) as Rotated).secret]).toEqual([201, null]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await codeOf(await rotate({}, token, keyed))).toEqual(unproven);
  });

  it("leaves an entry in the audit log for the rotation and for the refused attempt", async () => {
    await rotate({});
    await rotate({ current_secret: made.secret });
    const acts = async () => {
      const answer = await service.call("GET", "/v1/audit?limit=50", admin);
      const { data } = (await answer.json()) as {
        data: { action: string; outcome: string; client_id: string | null }[];
      };
      const own = data.filter(({ client_id }) => client_id === made.id);
      return own.map(({ action, outcome }) => `${action} ${outcome}`);
    };
    const found = await eventually(acts, (list) => list.includes("POST /v1/me/secrets refused"));
    expect(found.filter((act) => act.startsWith("secret.rotate"))).toHaveLength(1);
  });
});
