import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import { createTokenKeyRing, rotateTokenKeys } from "../../../../src/credentials/token-keys.js";
import { createTokenSigner } from "../../../../src/credentials/token-signer.js";
import { createTokenKeyStore } from "../../../../src/store/access/tokens.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { keys } from "../../../harness/access/segments.js";
import { createTestDatabase } from "../../../harness/database/test-database.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { BlackBoxService, TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

describe("access tokens", () => {
  let owner: TestClient;
  let good: string;
  beforeAll(async () => {
    owner = await service.createTenant();
    good = await service.token(owner);
  });

  const codeFor = async (token: string, scheme = "Bearer") => {
    const response = await fetch(`${service.url}/v1/clients`, {
      headers: { authorization: `${scheme} ${token}` },
    });
    const body = (await response.json()) as { error?: { code: string } };
    return {
      status: response.status,
      code: body.error?.code,
      challenge: response.headers.get("www-authenticate"),
    };
  };

  /** The valid token, changed and signed with another key, as by an attacker who knows everything except the key. */
  const forge = (
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
    key: KeyObject = generateKeyPairSync("ed25519").privateKey,
  ) =>
    new SignJWT({ ...decodeJwt(good), ...claims })
      .setProtectedHeader({ ...decodeProtectedHeader(good), alg: "EdDSA", ...header })
      .sign(key);

  it("are JWTs as defined by RFC 9068", () => {
    expect(decodeProtectedHeader(good)).toMatchObject({
      alg: "EdDSA",
      typ: "at+jwt",
      kid: expect.stringMatching(/^key_/),
    });
    const claims = decodeJwt(good);
    expect(claims).toMatchObject({
      iss: service.url,
      aud: service.url,
      sub: owner.clientId,
      client_id: owner.clientId,
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(900);
    expect(claims.jti).toMatch(/^tok_/);
  });

  it("are recognised by the whole header, not only by the end that serves as the cache key", async () => {
    expect((await codeFor(good)).status).toBe(200);
    for (const scheme of ["Digest", "Basic ", "Bearer  "])
      expect(await codeFor(good, scheme)).toMatchObject({ status: 401 });
    // The same end with a different claim before it.
    expect(await codeFor(`${good.slice(0, 40)}x${good.slice(41)}`)).toMatchObject({ status: 401 });
    expect((await codeFor(good)).status).toBe(200);
  });

  it("are accepted with the scheme in any case", async () => {
    expect((await codeFor(good)).status).toBe(200);
    expect((await codeFor(good, "bearer")).status).toBe(200);
  });

  it.each<[what: string, make: () => Promise<string> | string]>([
    ["signed by a foreign key", () => forge({})],
    ["that name an unknown key", () => forge({}, { kid: "key_01h455vb4pex5vsknk084sn02q" })],
    ["that name no key", () => forge({}, { kid: undefined })],
    ["with alg none", () => `${unsigned({ alg: "none", typ: "at+jwt" }, good)}.`],
    [
      "with alg none and a signature",
      () => `${unsigned({ alg: "none", typ: "at+jwt" }, good)}.${good.split(".")[2]}`,
    ],
    ["with a changed payload", () => changePayload(good, { scope: "audit:read" })],
    ["that are not a JWT", () => "nonsense"],
    ["that are too long", () => "a".repeat(4097)],
    [
      "of HMAC with the public key",
      async () => {
        const { keys } = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as {
          keys: [{ x: string }];
        };
        return await new SignJWT(decodeJwt(good))
          .setProtectedHeader({ ...decodeProtectedHeader(good), alg: "HS256" })
          .sign(Buffer.from(keys[0].x, "base64url"));
      },
    ],
  ])("are refused %s", async (_what, make) => {
    const answer = await codeFor(await make());
    expect(answer.status).toBe(401);
    expect(answer.code).toMatch(/^(TOKEN_INVALID|UNAUTHENTICATED)$/);
  });

  describe("signed by the real key", () => {
    const masterKey = Buffer.alloc(32, 7);
    const now = Date.now;

    /** A signer and its key, so that a test can sign claims that the service would not. */
    const setUp = async () => {
      const database = await createTestDatabase();
      const store = createTokenKeyStore(withKeys(database, keys));
      const sealing = createSealing(createKeyring([masterKey]));
      await rotateTokenKeys(
        store,
        sealing,
        () => crypto.randomUUID(),
        () => now() - 60_000,
      );
      const ring = createTokenKeyRing(store, sealing, now, now);
      const signer = createTokenSigner({ keys: ring, issuer: "https://bursar.example", now });
      const key = await ring.signingKey();
      const claims = {
        tenantId: crypto.randomUUID(),
        clientId: crypto.randomUUID(),
        tokenId: crypto.randomUUID(),
        scopes: ["audit:read"] as const,
        issuedAtMs: Math.floor(now() / 1000) * 1000,
        expiresAtMs: Math.floor(now() / 1000) * 1000 + 900_000,
      };
      const token = await signer.sign(claims);
      const resign = (changed: Record<string, unknown>, header: Record<string, unknown> = {}) =>
        new SignJWT({ ...decodeJwt(token), ...changed })
          .setProtectedHeader({ ...decodeProtectedHeader(token), alg: "EdDSA", ...header })
          .sign(key.privateKey);
      return { database, store, sealing, signer, claims, token, resign };
    };

    it("verify to the signed claims", async () => {
      const { database, signer, claims, token } = await setUp();
      const keyId = decodeProtectedHeader(token).kid;
      expect(await signer.verify(token)).toEqual({ ...claims, keyId });
      await database.drop();
    });

    it("are refused with a wrong issuer, audience or type, from the future, too old, or with claims missing", async () => {
      const { database, signer, resign } = await setUp();
      const seconds = Math.floor(now() / 1000);
      const verdicts = {
        issuer: await signer.verify(await resign({ iss: "https://elsewhere.example" })),
        audience: await signer.verify(await resign({ aud: "https://elsewhere.example" })),
        type: await signer.verify(await resign({}, { typ: "JWT" })),
        noType: await signer.verify(await resign({}, { typ: undefined })),
        notYet: await signer.verify(await resign({ nbf: seconds + 60 })),
        fromTheFuture: await signer.verify(await resign({ iat: seconds + 60 })),
        expired: await signer.verify(await resign({ exp: seconds - 1 })),
        tooOld: await signer.verify(await resign({ iat: seconds - 3600, exp: seconds + 3600 })),
        noId: await signer.verify(await resign({ jti: undefined })),
        noTenant: await signer.verify(await resign({ tenant_id: undefined })),
        otherTenant: await signer.verify(await resign({ tenant_id: "tenant" })),
      };
      expect(verdicts).toEqual({
        issuer: "invalid",
        audience: "invalid",
        type: "invalid",
        noType: "invalid",
        notYet: "invalid",
        fromTheFuture: "invalid",
        expired: "expired",
        tooOld: "expired",
        noId: "invalid",
        noTenant: "invalid",
        otherTenant: "invalid",
      });
      await database.drop();
    });

    it("are signed only with keys of the current master key, and the first key signs immediately", async () => {
      const { database, store } = await setUp();
      const other = createSealing(createKeyring([new Uint8Array(32).fill(9)]));
      await expect(rotateTokenKeys(store, other, () => crypto.randomUUID(), now)).rejects.toThrow(
        /master key/,
      );
      expect(await store.listTokenKeys()).toHaveLength(1);
      await database.drop();
      const empty = await createTestDatabase();
      const first = createTokenKeyStore(withKeys(empty, keys));
      await rotateTokenKeys(first, other, () => crypto.randomUUID(), now);
      expect((await createTokenKeyRing(first, other, now, now).signingKey()).kid).toMatch(/^key_/);
      await empty.drop();
    });

    it("verify after a rotation, by the old key until its tokens have expired, and by the new key before it signs", async () => {
      const { database, store, sealing, signer, claims, token } = await setUp();
      await rotateTokenKeys(store, sealing, () => crypto.randomUUID(), now);
      const later = (ms: number) => createTokenKeyRing(store, sealing, () => now() + ms, now);
      expect(await signer.verify(token)).toMatchObject(claims);
      const kid = decodeProtectedHeader(token).kid ?? "";
      expect(await later(0).published()).toHaveLength(2);
      expect((await later(0).signingKey()).kid).toBe(kid);
      expect((await later(31_000).signingKey()).kid).not.toBe(kid);
      expect((await later(900_000).verifyingKey(kid))?.kid).toBe(kid);
      expect(await later(1_000_000).verifyingKey(kid)).toBeUndefined();
      await database.drop();
    });

    it("are useless to another master key", async () => {
      const { database, store } = await setUp();
      const ring = createTokenKeyRing(store, createSealing(createKeyring([Buffer.alloc(32, 8)])), now, now);
      await expect(ring.signingKey()).rejects.toThrow("The master key does not decrypt");
      await database.drop();
    });
  });

  it("become invalid in every process soon after they are revoked, or their client is disabled or loses a scope", async () => {
    const second = await service.another();
    const subject = await service.createTenant();
    const admin = await service.token(subject);
    const made = (await (
      await service.call("POST", "/v1/clients", admin, {
        name: "worker",
        scopes: ["audit:read", "wallets:read"],
      })
    ).json()) as { id: string; secret: string };
    const worker = { clientId: made.id, secret: made.secret };
    const [first, other] = [await service.token(worker), await service.token(worker)];
    const ask = async (at: BlackBoxService, token: string, path = "/v1/audit") => {
      const response = await at.call("GET", path, token);
      return ((await response.json()) as { error?: { code: string } }).error?.code ?? response.status;
    };
    expect([await ask(service, first), await ask(second, first), await ask(second, other)]).toEqual([
      200, 200, 200,
    ]);

    await fetch(`${service.url}/oauth/revoke`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${worker.clientId}:${worker.secret}`).toString("base64")}`,
      },
      body: new URLSearchParams({ token: first }),
    });
    expect(await ask(service, first)).toBe("TOKEN_REVOKED");
    await eventually(
      () => ask(second, first),
      (code) => code === "TOKEN_REVOKED",
    );
    expect(await ask(second, other)).toBe(200);

    await service.call("PATCH", `/v1/clients/${worker.clientId}`, admin, { scopes: ["wallets:read"] });
    await eventually(
      () => ask(second, other),
      (code) => code === "INSUFFICIENT_SCOPE",
    );
    expect(await ask(second, other, "/v1/wallets")).toBe(200);

    await service.call("PATCH", `/v1/clients/${worker.clientId}`, admin, { state: "disabled" });
    expect(await ask(service, other, "/v1/wallets")).toBe("TOKEN_REVOKED");
    await eventually(
      () => ask(second, other, "/v1/wallets"),
      (code) => code === "TOKEN_REVOKED",
    );
    await expect(service.token(worker)).rejects.toThrow();

    // Without delay, so that its new token is of the same second: the new one is valid, and the old one stays invalid.
    await service.call("PATCH", `/v1/clients/${worker.clientId}`, admin, { state: "active" });
    const fresh = await service.token(worker);
    expect([await ask(service, fresh, "/v1/wallets"), await ask(service, other, "/v1/wallets")]).toEqual([
      200,
      "TOKEN_REVOKED",
    ]);
    await eventually(
      () => ask(second, fresh, "/v1/wallets"),
      (code) => code === 200,
    );
    expect(await ask(second, other, "/v1/wallets")).toBe("TOKEN_REVOKED");
    await second.stop();
  });
});

function unsigned(header: object, token: string): string {
  return `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${token.split(".")[1]}`;
}

function changePayload(token: string, claims: object): string {
  const [header, , signature] = token.split(".");
  const payload = Buffer.from(JSON.stringify({ ...decodeJwt(token), ...claims })).toString("base64url");
  return `${header}.${payload}.${signature}`;
}
