import { describe, expect, it } from "vitest";
import type { ClientProof } from "./authenticate-client.js";
import { createOAuthService, type OAuthServiceDeps } from "./oauth-service.js";

/** A client with a quota of two calls, and tokens of it that are named "valid …". */
function setUp() {
  let left = 2;
  const revoked = new Set<string>();
  const recorded: [action: string, outcome: string][] = [];
  const service = createOAuthService({
    authenticateClient: async () => ({ tenantId: "t", id: "c" }),
    tokens: {
      verify: async (token: string) =>
        token.startsWith("valid") ? { clientId: "c", tokenId: token, expiresAtMs: 1 } : "invalid",
    },
    revocations: {
      revokeToken: async (_client: unknown, tokenId: string) => {
        const isNew = !revoked.has(tokenId);
        revoked.add(tokenId);
        return isNew;
      },
    },
    access: { forget: () => undefined },
    takeQuota: () => (left-- > 0 ? 0 : 7),
    audit: {
      record: ({ action, outcome }: { action: string; outcome: string }) => recorded.push([action, outcome]),
    },
    now: () => 0,
  } as unknown as OAuthServiceDeps);
  const revoke = (token: string) =>
    service.revokeToken({} as ClientProof, token, { requestId: "r", address: "192.0.2.1" });
  return { revoke, recorded, revoked };
}

describe("revoking a token", () => {
  it("is limited if it revokes nothing, and then has no audit entry until it is refused", async () => {
    const { revoke, recorded } = setUp();
    expect([await revoke("garbage"), await revoke("garbage")]).toEqual([undefined, undefined]);
    expect(recorded).toEqual([]);
    expect(await revoke("garbage")).toMatchObject({ fault: "slow_down", retryAfterSeconds: 7 });
    expect(recorded).toEqual([["token.revoke", "refused"]]);
  });

  it("is limited if the token was revoked before", async () => {
    const { revoke, recorded } = setUp();
    for (let count = 0; count < 3; count++) expect(await revoke("valid 1")).toBe(undefined);
    expect(recorded).toEqual([["token.revoke", "succeeded"]]);
    expect(await revoke("valid 1")).toMatchObject({ fault: "slow_down" });
  });

  it("works for a valid token when the quota is used up", async () => {
    const { revoke, revoked } = setUp();
    for (let count = 0; count < 5; count++) await revoke("garbage");
    expect(await revoke("valid 1")).toBe(undefined);
    expect(revoked).toEqual(new Set(["valid 1"]));
  });
});
