import { describe, expect, it } from "vitest";
import { createRequestAuthenticator } from "../app/access/authenticate-request.js";
import type { StoredTokenKey } from "../app/access/tokens.js";
import type { ApiClient, ClientAccess } from "../app/clients/client.js";
import { createFreshCache } from "../runtime/fresh-cache.js";
import { createKeyring } from "./keyring.js";
import { createSealing } from "./sealing.js";
import { createTokenKeyRing, makeTokenKey } from "./token-keys.js";
import { createTokenSigner } from "./token-signer.js";

/** What SECURITY.md promises for tokens that are ended by another process. */
const promisedMs = 5000;
/** What a request may take of it until the database has answered. */
const queryMs = 500;

const keyId = "01890a5d-ac96-774b-bcce-b302099a8057";
const clientId = "01890a5d-ac96-774b-bcce-b302099a8058";
const tenantId = "01890a5d-ac96-774b-bcce-b302099a8059";
const credentialId = "secret";
const caller = { ip: "192.0.2.7" };

/** A process that has accepted a token, with its clock and what another process can change: the stored keys and the client. */
async function acceptedToken() {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const now = () => nowMs;
  const sealing = createSealing(createKeyring([new Uint8Array(32)]));
  const stored = {
    keys: [makeTokenKey(sealing, keyId, nowMs)] as StoredTokenKey[],
    revoked: [] as string[],
    access: {
      client: {
        ...{
          id: clientId,
          tenantId,
          state: "active",
          scopes: ["audit:read"],
          disabledAt: null,
          resetAt: null,
        },
        ...{ secrets: [{ id: credentialId, expiresAt: null }], keys: [] },
      } as unknown as ApiClient,
      revokedTokenIds: new Set<string>(),
      isSuspended: false,
    } as ClientAccess,
  };
  const store = {
    listTokenKeys: async () => stored.keys,
    listRevoked: async () => stored.revoked,
    addFirstTokenKey: async () => undefined,
    changeTokenKeys: async () => undefined,
  };
  const tokens = createTokenSigner({
    keys: createTokenKeyRing(store, sealing, now, now),
    issuer: "https://bursar.example",
    now,
  });
  const authenticator = createRequestAuthenticator({
    addresses: { wait: () => 0, take: () => 0, counts: { refused: 0 } },
    tokens,
    clients: createFreshCache(async () => stored.access, now),
    now,
  });
  const claims = {
    ...{ tenantId, clientId, credentialId, tokenId: keyId, scopes: ["audit:read"] as const },
    ...{ issuedAtMs: nowMs, expiresAtMs: nowMs + 900_000 },
  };
  const authorization = `Bearer ${await tokens.sign(claims)}`;
  const authenticate = async () => {
    const answer = await authenticator.authenticate(authorization, caller);
    return "refused" in answer ? answer.refused : "accepted";
  };
  expect(await authenticate()).toBe("accepted");
  return { stored, authenticate, pass: (ms: number) => (nowMs += ms) };
}

type Stored = Awaited<ReturnType<typeof acceptedToken>>["stored"];
const changeClient = (stored: Stored, change: Partial<ApiClient>) => {
  const { client } = stored.access;
  stored.access = { ...stored.access, client: { ...(client as ApiClient), ...change } };
};

/** What another process does, with how the token is refused afterwards. */
const stops: [string, (stored: Stored) => void, string][] = [
  ["its signing key is revoked", (stored) => stored.revoked.push(keyId), "TOKEN_INVALID"],
  ["its client is disabled", (stored) => changeClient(stored, { state: "disabled" }), "TOKEN_REVOKED"],
  ["its secret is removed", (stored) => changeClient(stored, { secrets: [] }), "TOKEN_REVOKED"],
  [
    "it is revoked",
    (stored) => (stored.access = { ...stored.access, revokedTokenIds: new Set([keyId]) }),
    "TOKEN_REVOKED",
  ],
  [
    "its tenant is suspended",
    (stored) => (stored.access = { ...stored.access, isSuspended: true }),
    "TENANT_SUSPENDED",
  ],
];

describe("a token that a process has just accepted is refused there within 5 seconds", () => {
  it.each(stops)("after %s by another process", async (_, stop, refused) => {
    const { stored, authenticate, pass } = await acceptedToken();
    stop(stored);
    pass(promisedMs - queryMs);
    expect(await authenticate()).toBe(refused);
  });

  it.each(stops)("after %s by another process, if it is used all the time", async (_, stop, refused) => {
    const { stored, authenticate, pass } = await acceptedToken();
    stop(stored);
    for (let passedMs = 0; passedMs < promisedMs - queryMs; passedMs += 100) {
      pass(100);
      await authenticate();
    }
    expect(await authenticate()).toBe(refused);
  });

  it("and goes on being accepted if nothing has ended it", async () => {
    const { authenticate, pass } = await acceptedToken();
    pass(promisedMs);
    expect(await authenticate()).toBe("accepted");
  });
});
