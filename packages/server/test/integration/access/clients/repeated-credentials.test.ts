import { beforeEach, describe, expect, it } from "vitest";
import { sharedService } from "../../../harness/service/shared-service.js";

const service = await sharedService();

interface Answer {
  client?: { secrets: { id: string }[] };
  key?: { id: string };
  secret?: string | null;
  error?: { code: string };
}

describe("a request for a secret or a key that is sent again with its idempotency key", () => {
  let token: string;
  let path: string;
  beforeEach(async () => {
    token = await service.token(await service.createTenant());
    path = await createClient();
  });

  const createClient = async () => {
    const made = await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    return `/v1/clients/${((await made.json()) as { id: string }).id}`;
  };
  const post = async (to: string, body: object, key?: string) => {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const response = await service.call("POST", to, token, body, headers as Record<string, string>);
    const replayed = response.headers.get("idempotent-replayed");
    return { status: response.status, replayed, body: (await response.json()) as Answer };
  };
  const kinds = [
    ["secrets", {}, { overlap_seconds: 60 }],
    [
      "keys",
      { algorithm: "hmac-sha256" },
      { algorithm: "ed25519", public_key: "6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw" },
    ],
  ] as const;
  const read = async () =>
    (await (await service.call("GET", path, token)).json()) as { secrets: unknown[]; keys: unknown[] };

  it.each(kinds)("creates one of the %s, and shows its secret once", async (kind, body) => {
    const before = (await read())[kind].length;
    const first = await post(`${path}/${kind}`, body, "one");
    expect([first.status, first.replayed, typeof first.body.secret]).toEqual([201, null, "string"]);
    const again = await post(`${path}/${kind}`, body, "one");
    expect([again.status, again.replayed, again.body.secret]).toEqual([201, "true", null]);
    expect(again.body.key).toEqual(first.body.key);
    expect(again.body.client).toEqual(first.body.client);
    expect((await read())[kind]).toHaveLength(before + 1);
    expect((await post(`${path}/${kind}`, body, "two")).replayed).toBeNull();
  });

  it.each(kinds)("creates one of the %s for concurrent requests", async (kind, body) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(`${path}/${kind}`, body, "race")),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(answers.filter(({ body: { secret } }) => secret !== null)).toHaveLength(1);
  });

  it.each(kinds)("is refused for other %s, and for another client", async (kind, body, other) => {
    await post(`${path}/${kind}`, body, "used");
    const refused = [await post(`${path}/${kind}`, other, "used")];
    refused.push(await post(`${await createClient()}/${kind}`, body, "used"));
    for (const { status, body: answer } of refused)
      expect([status, answer.error?.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  });

  it("does not use up its key if it is refused, and is replayed even if it used the last slot", async () => {
    const body = { algorithm: "hmac-sha256" };
    for (let count = 0; count < 9; count++) await post(`${path}/keys`, body);
    const last = await post(`${path}/keys`, body, "last");
    expect((await post(`${path}/keys`, body, "beyond")).body.error?.code).toBe("KEY_LIMIT_REACHED");
    expect((await post(`${path}/keys`, body, "last")).body.key).toEqual(last.body.key);
    await service.call("DELETE", `${path}/keys/${last.body.key?.id}`, token);
    // The credential was removed, and a repeated request does not create another.
    const gone = await post(`${path}/keys`, body, "last");
    expect([gone.status, gone.body.error?.code]).toEqual([404, "CREDENTIAL_NOT_FOUND"]);
    expect((await post(`${path}/keys`, body, "beyond")).status).toBe(201);
  });

  it("creates another credential each time without the header", async () => {
    const [first, second] = [await post(`${path}/secrets`, {}), await post(`${path}/secrets`, {})];
    expect(first.body.secret).not.toBe(second.body.secret);
    expect((await post(`${path}/secrets`, {}, "has space")).body.error?.code).toBe("IDEMPOTENCY_KEY_INVALID");
  });
});
