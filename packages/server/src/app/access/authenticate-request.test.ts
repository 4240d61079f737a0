import { expect, it } from "vitest";
import type { ClientAccess, ClientAccessCache } from "../clients/client.js";
import { type Authenticated, createRequestAuthenticator } from "./authenticate-request.js";
import type { TokenClaims } from "./tokens.js";

const claims = { clientId: "client", tokenId: "token", scopes: [], issuedAtMs: 0, expiresAtMs: 1000 };
const access = {
  client: { id: "client", state: "active", scopes: [], disabledAt: null, resetAt: null },
  revokedTokenIds: new Set(),
  isSuspended: false,
} as unknown as ClientAccess;
const caller = { ip: "192.0.2.7" };

/** An address that has used up its quota, and signatures that are verified only when the test says so. */
function createWorld() {
  const held: (() => void)[] = [];
  const authenticator = createRequestAuthenticator({
    addresses: { wait: () => 5, take: () => 5, counts: { refused: 0 } },
    tokens: {
      sign: async () => "",
      verify: async (token) => {
        await new Promise<void>((resolve) => held.push(resolve));
        return token === "valid" ? (claims as unknown as TokenClaims) : "invalid";
      },
      isKeyRecent: () => true,
      hasKey: async () => true,
    },
    clients: { peek: () => access, load: async () => access } as unknown as ClientAccessCache,
    now: () => 0,
  });
  return { authenticator, held };
}

it("a fresh token is accepted from an address with 150 invalid ones in flight", async () => {
  const { authenticator, held } = createWorld();
  for (let count = 0; count < 150; count++) void authenticator.authenticate(`Bearer junk${count}`, caller);
  let result: unknown;
  void Promise.resolve(authenticator.authenticate("Bearer valid", caller)).then((value) => {
    result = value;
  });
  for (let turn = 0; turn < 1000 && result === undefined; turn++) {
    held.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(result).toMatchObject({ principal: { clientId: "client" } });
});

it("a valid ticket is redeemed whatever its address has sent, and an invalid one is limited", async () => {
  const { authenticator } = createWorld();
  const valid = { principal: { clientId: "client" } } as Authenticated;
  expect(await authenticator.byTicket(async () => valid, caller)).toBe(valid);
  expect(await authenticator.byTicket(async () => ({ refused: "TICKET_INVALID" }), caller)).toEqual({
    refused: "RATE_LIMITED",
    retryAfterSeconds: 5,
  });
});
