import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

describe("signed requests", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let keyId: string;
  let hmac: { id: string; secret: Buffer };
  const pair = generateKeyPairSync("ed25519");

  beforeAll(async () => {
    service = await startTestService({ BURSAR_PUBLIC_URL: "https://pay.example/bursar/" });
    owner = await service.createTenant();
    token = await service.token(owner);
    const keys = `/v1/clients/${owner.clientId}/keys`;
    const add = async (body: object) =>
      (await (await service.call("POST", keys, token, body)).json()) as {
        key: { id: string };
        secret: string;
      };
    keyId = (await add({ algorithm: "ed25519", public_key: pair.publicKey.export({ format: "jwk" }).x })).key
      .id;
    const shared = await add({ algorithm: "hmac-sha256" });
    hmac = { id: shared.key.id, secret: Buffer.from(shared.secret, "base64") };
  });
  afterAll(() => service.stop());

  interface Wanted {
    components?: string[];
    params?: Record<string, string | number | undefined>;
    body?: string;
    /** Null: somebody on the way removes the body. */
    sentBody?: string | null;
    path?: string;
    headers?: Record<string, string>;
    label?: string;
    targetUri?: string;
    method?: string;
    key?: Parameters<typeof sign>[2];
    hmacSecret?: Buffer;
  }

  /** Signs a request by hand, correctly or with one fault, and returns the service's response. */
  const send = async (wanted: Wanted = {}) => {
    const {
      body = '{"name":"signed","scopes":[]}',
      label = "sig1",
      method = "POST",
      path = "/v1/clients",
    } = wanted;
    const sentBody = wanted.sentBody === undefined ? body : wanted.sentBody;
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      "idempotency-key": randomBytes(8).toString("hex"),
      ...wanted.headers,
    };
    const components = wanted.components ?? [
      "@method",
      "@target-uri",
      "authorization",
      "content-digest",
      "idempotency-key",
    ];
    const seconds = Math.floor(Date.now() / 1000);
    const params = {
      created: seconds,
      expires: seconds + 60,
      nonce: randomBytes(16).toString("base64url"),
      keyid: keyId,
      tag: "bursar-v1",
      ...wanted.params,
    };
    const shown = Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `;${name}=${typeof value === "number" ? value : `"${value}"`}`);
    const list = `(${components.map((name) => `"${name}"`).join(" ")})${shown.join("")}`;
    const derived: Record<string, string> = {
      "@method": method,
      "@target-uri": wanted.targetUri ?? `https://pay.example/bursar${path}`,
    };
    const base = [
      ...components.map((name) => `"${name}": ${derived[name] ?? headers[name]}`),
      `"@signature-params": ${list}`,
    ].join("\n");
    const signature =
      wanted.hmacSecret === undefined
        ? sign(null, Buffer.from(base), wanted.key ?? pair.privateKey)
        : createHmac("sha256", wanted.hmacSecret).update(base).digest();
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: {
        ...headers,
        "signature-input": `${label}=${list}`,
        signature: `${label}=:${signature.toString("base64")}:`,
      },
      body: sentBody,
    });
    const answer = (await response.json()) as { error?: { code: string; message: string } };
    return {
      status: response.status,
      code: answer.error?.code,
      message: answer.error?.message,
      accept: response.headers.get("accept-signature"),
    };
  };

  it("are accepted with an Ed25519 key and with a shared secret", async () => {
    expect(await send()).toMatchObject({ status: 201 });
    expect(
      await send({ params: { keyid: hmac.id, alg: "hmac-sha256" }, hmacSecret: hmac.secret }),
    ).toMatchObject({ status: 201 });
  });

  const now = () => Math.floor(Date.now() / 1000);
  it.each<[what: string, wanted: () => Wanted, message: string]>([
    [
      "a component that is not covered",
      () => ({ components: ["@method", "@target-uri", "authorization", "content-digest"] }),
      'must cover "idempotency-key"',
    ],
    [
      "a precondition that is not covered",
      () => ({ headers: { "if-match": '"1"' } }),
      'must cover "if-match"',
    ],
    [
      "no method covered",
      () => ({ components: ["@target-uri", "authorization", "content-digest", "idempotency-key"] }),
      'must cover "@method"',
    ],
    [
      "no digest covered",
      () => ({ components: ["@method", "@target-uri", "authorization", "idempotency-key"] }),
      'must cover "content-digest"',
    ],
    ["another tag", () => ({ params: { tag: "other" } }), "tag must be bursar-v1"],
    ["no tag", () => ({ params: { tag: undefined } }), "tag must be bursar-v1"],
    ["no expiry", () => ({ params: { expires: undefined } }), "created and expires are required"],
    [
      "an expiry that has passed",
      () => ({ params: { created: now() - 120, expires: now() - 60 } }),
      "has expired",
    ],
    [
      "a time in the future",
      () => ({ params: { created: now() + 120, expires: now() + 180 } }),
      "in the future",
    ],
    [
      "an end before the beginning",
      () => ({ params: { created: now() + 20, expires: now() + 10 } }),
      "expires must be after created",
    ],
    ["too long a lifetime", () => ({ params: { created: now(), expires: now() + 301 } }), "at most 300 s"],
    ["no nonce", () => ({ params: { nonce: undefined } }), "A nonce of 16 to 128"],
    ["a short nonce", () => ({ params: { nonce: "short" } }), "A nonce of 16 to 128"],
    [
      "an unknown key",
      () => ({ params: { keyid: "key_01h455vb4pex5vsknk084sn02q" } }),
      "no key with this keyid",
    ],
    [
      "another algorithm than the key's",
      () => ({ params: { alg: "hmac-sha256" } }),
      "alg is not the algorithm of the key",
    ],
    ["another key", () => ({ key: generateKeyPairSync("ed25519").privateKey }), "does not verify"],
    ["another method", () => ({ method: "PUT" }), "does not verify"],
    [
      "a target with the listening address instead of the public URL",
      () => ({ targetUri: `${service.url}/v1/clients` }),
      'over "@method": POST and "@target-uri": https://pay.example/bursar/v1/clients',
    ],
    [
      "a target with another query",
      () => ({ targetUri: "https://pay.example/bursar/v1/clients?a=1" }),
      "does not verify",
    ],
    [
      "an unknown component",
      () => ({
        components: [
          "@method",
          "@target-uri",
          "authorization",
          "content-digest",
          "idempotency-key",
          "constructor",
        ],
      }),
      "lacks a component that the signature covers",
    ],
  ])("are refused with %s", async (_what, wanted, message) => {
    const answer = await send(wanted());
    expect(answer).toMatchObject({
      status: 401,
      code: "SIGNATURE_INVALID",
      message: expect.stringContaining(message),
    });
    expect(answer.accept).toBe(
      'sig1=("@method" "@target-uri" "authorization" "content-digest" "idempotency-key" "if-match");created;expires;nonce;keyid;tag="bursar-v1"',
    );
  });

  it.each(["of this tenant", "of another tenant"])(
    "are refused when the key belongs to another client %s",
    async (whose) => {
      const other = await service.createTenant();
      const made = await service.call("POST", "/v1/clients", token, { name: "other", scopes: [] });
      const sibling = ((await made.json()) as { id: string }).id;
      const theirs = generateKeyPairSync("ed25519");
      const body = { algorithm: "ed25519", public_key: theirs.publicKey.export({ format: "jwk" }).x };
      const isSibling = whose === "of this tenant";
      const path = `/v1/clients/${isSibling ? sibling : other.clientId}/keys`;
      const added = await service.call("POST", path, isSibling ? token : await service.token(other), body);
      const { key } = (await added.json()) as { key: { id: string } };
      expect(await send({ params: { keyid: key.id }, key: theirs.privateKey })).toMatchObject({
        status: 401,
        message: "The client has no key with this keyid.",
      });
    },
  );

  it("are accepted once", async () => {
    const params = { nonce: randomBytes(16).toString("base64url") };
    expect(await send({ params })).toMatchObject({ status: 201 });
    expect(await send({ params })).toMatchObject({ status: 401, message: "The nonce was used before." });
  });

  it("are accepted once of many concurrent copies", async () => {
    const params = { nonce: randomBytes(16).toString("base64url") };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send({ params })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it.each([
    ["other bytes than were signed", { sentBody: '{"name":"signed","scopes":[] }' }],
    ["a digest that is malformed", { headers: { "content-digest": "sha-256=abc" } }],
    ["an unknown digest algorithm", { headers: { "content-digest": "md5=:AAAA:" } }],
  ])("are refused with %s", async (_what, wanted) => {
    expect(await send(wanted)).toMatchObject({ status: 400, code: "DIGEST_MISMATCH" });
  });

  it("are refused if an optional body was removed on the way", async () => {
    const path = `/v1/clients/${owner.clientId}/secrets`;
    const wanted = { path, body: '{"overlap_seconds":60}' };
    expect(await send({ ...wanted, sentBody: null })).toMatchObject({ status: 400, code: "DIGEST_MISMATCH" });
    expect(await send(wanted)).toMatchObject({ status: 201 });
  });

  it("can be required", async () => {
    const client = (await (
      await service.call("POST", "/v1/clients", token, {
        name: "strict",
        scopes: ["clients:manage"],
        require_signature: true,
      })
    ).json()) as { id: string; secret: string };
    const strict = await service.token({ clientId: client.id, secret: client.secret });
    const response = await service.call("GET", "/v1/clients", strict);
    expect(response.headers.get("accept-signature")).toContain("sig1=");
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: { code: "SIGNATURE_REQUIRED" } },
    ]);
  });
});
