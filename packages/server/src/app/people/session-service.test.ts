import { createHash } from "node:crypto";
import { showId } from "@bursar/protocol";
import { expect, it } from "vitest";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { judgeToken } from "../access/judge-token.js";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { ApiClient } from "../clients/client.js";
import { hashSecret } from "../clients/client-secret.js";
import { createSessionService, type SessionServiceDeps } from "./session-service.js";

const keys = { currentId: "one", derive: (label: string) => createHash("sha256").update(label).digest() };
const sessionId = "01890a5d-ac96-774b-bcce-b302099a8057";
const cookieWith = (secret: string) => `${showId("ses", sessionId)}.${secret}`;
const from = { requestId: "req", address: "192.0.2.7" };

/** A service whose database answers one query at a time, when the test says so. */
function createWorld({ resetAt = null }: { resetAt?: Date | null } = {}) {
  const person = {
    ...{ id: "ada", tenantId: "t", state: "active", person: {}, scopes: [], secrets: [], keys: [] },
    ...{ disabledAt: null, resetAt },
  };
  const session = {
    ...{ id: sessionId, tenantId: "t", clientId: "ada", hash: hashSecret(keys, "right").hash },
    ...{ credentialId: null, address: from.address, lastAddress: null, endedAt: null },
    ...{ createdAt: new Date(0), lastUsedAt: new Date(0), expiresAt: new Date(3_600_000) },
  };
  const held: (() => void)[] = [];
  const charged: string[] = [];
  const entries: (AuditDraft | undefined)[] = [];
  let isSlow = false;
  let nowMs = 0;
  let waitSeconds = 0;
  const service = createSessionService({
    keys,
    now: () => nowMs,
    newUuid: () => sessionId,
    audit: { record: () => undefined },
    addresses: { wait: () => 0, take: () => charged.push("taken") && 0, counts: { refused: 0 } },
    takeQuota: () => waitSeconds,
    checks: createBoundedGate({ concurrentMax: 4, waitingMax: 2000, waitingOfKeyMax: 100 }),
    knownChecks: createBoundedGate({ concurrentMax: 2, waitingMax: 2000, waitingOfKeyMax: 20 }),
    clients: { findClientOfTenant: async () => ({ ...person, authorityChangedAt: new Date(0) }) },
    sessions: {
      findSession: async () => {
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return session;
      },
      useSession: async (used: typeof session, entry: AuditDraft | undefined) => {
        entries.push(entry);
        Object.assign(session, used);
        return true;
      },
    },
    isSuspended: async () => false,
    tokens: { sign: async () => "token" },
  } as unknown as SessionServiceDeps);
  return {
    service,
    person: person as unknown as ApiClient,
    held,
    charged,
    /** Asks for a token from each of these addresses, and returns the entries that this made. */
    useFrom: async (addresses: readonly string[]) => {
      entries.length = 0;
      for (const address of addresses)
        expect(await service.issueSessionToken(cookieWith("right"), { ...from, address })).toHaveProperty(
          "token",
        );
      return entries.filter((entry) => entry !== undefined);
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
    exhaust: () => {
      waitSeconds = 3;
    },
    slowDown: () => {
      isSlow = true;
    },
  };
}

it("neighbours that name a session with wrong cookies do not keep its person from a token", async () => {
  const { service, held, slowDown } = createWorld();
  expect(await service.issueSessionToken(cookieWith("right"), from)).toMatchObject({ token: "token" });
  slowDown();
  for (let count = 0; count < 200; count++) void service.issueSessionToken(cookieWith("wrong"), from);
  let result: unknown;
  void service.issueSessionToken(cookieWith("right"), from).then((value) => {
    result = value;
  });
  for (let turn = 0; turn < 1000 && result === undefined; turn++) {
    held.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(result).toMatchObject({ token: "token" });
});

it("a session that goes to and fro between address blocks makes one entry for each of them", async () => {
  const { useFrom } = createWorld();
  const entries = await useFrom(Array.from({ length: 20 }, (_, turn) => `192.0.2.${7 + (turn % 3)}`));
  expect(entries.map(({ action, address }) => [action, address])).toEqual([
    ["session.use", "192.0.2.8"],
    ["session.use", "192.0.2.9"],
  ]);
});

it("a session that is used from many address blocks makes a few entries a minute, which count the others", async () => {
  const { useFrom, advance } = createWorld();
  const addresses = Array.from({ length: 100 }, (_, turn) => `198.51.100.${turn}`);
  expect(await useFrom(addresses)).toHaveLength(8);
  advance(60_000);
  expect(await useFrom(["203.0.113.1"])).toMatchObject([{ address: "203.0.113.1", repeated: 93 }]);
});

it("a token of a session that a provider has opened is valid in the second in which the person was reset", async () => {
  const { service, person, advance } = createWorld({ resetAt: new Date(7_400) });
  advance(7_450);
  const issued = await service.issueSessionToken(cookieWith("right"), from);
  if (!("claims" in issued)) throw new Error("no token");
  const access = { client: person, revokedTokenIds: new Set<string>(), isSuspended: false };
  expect(judgeToken(issued.claims, access, 7_450)).toHaveProperty("principal");
  // One from before the reset is not.
  expect(judgeToken({ ...issued.claims, issuedAtMs: 7_000 }, access, 7_450)).toMatchObject({
    refused: "TOKEN_REVOKED",
  });
});

it("tokens of a session are charged to its person", async () => {
  const { service, exhaust, charged } = createWorld();
  exhaust();
  const refused = { refused: "RATE_LIMITED", retryAfterSeconds: 3 };
  expect(await service.issueSessionToken(cookieWith("right"), from)).toEqual(refused);
  // And not to the neighbours of a stolen cookie.
  expect(charged).toEqual([]);
  await service.issueSessionToken(cookieWith("wrong"), from);
  expect(charged).toEqual(["taken"]);
});
