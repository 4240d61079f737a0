import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { ApiClient } from "../clients/client.js";
import { hashSecret } from "../clients/client-secret.js";
import { createClientAuthenticator, isOAuthFault } from "./authenticate-client.js";
import { createFailureThrottle } from "./failure-throttle.js";
import type { IntegrityKeys } from "./integrity-keys.js";

const keys: IntegrityKeys = {
  currentId: "one",
  derive: (label) => createHash("sha256").update(label).digest(),
};

/** An authenticator whose database answers only when the test says so, as under a flood. */
function createWorld() {
  const secret = { ...hashSecret(keys, "right"), id: "secret", expiresAt: null };
  const client = { id: "client", state: "active", secrets: [secret], person: null } as unknown as ApiClient;
  let isSlow = false;
  let areSignaturesSlow = false;
  const held: (() => void)[] = [];
  const heldSignatures: (() => void)[] = [];
  const verifiedWith: Buffer[] = [];
  const authenticate = createClientAuthenticator({
    clients: {
      findClient: async (id) => {
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return ["client", "other"].includes(id) ? { ...client, id } : undefined;
      },
    },
    keys,
    uses: { record: () => undefined },
    assertions: {
      readSubject: (assertion) => assertion.split(" ")[1] ?? "client",
      verify: async (assertion, { keys: given = [] }) => {
        const [key] = given;
        if (key !== undefined) verifiedWith.push(Buffer.from(key.material));
        if (areSignaturesSlow) await new Promise<void>((resolve) => heldSignatures.push(resolve));
        return assertion === "signed" ? { id: "1", expiresAt: new Date(1), keyId: "key" } : undefined;
      },
    },
    nonces: { useNonce: async () => true },
    throttle: createFailureThrottle(() => 0),
    checks: createBoundedGate({ concurrentMax: 4, waitingMax: 2000, waitingOfKeyMax: 100 }),
    knownChecks: createBoundedGate({ concurrentMax: 2, waitingMax: 2000, waitingOfKeyMax: 20 }),
    signatureChecks: createBoundedGate({ concurrentMax: 4, waitingMax: 4000, waitingOfKeyMax: 1000 }),
    now: () => 0,
  });
  const attempt = (address: string, clientId: string, given: string) =>
    authenticate({ method: "secret", clientId, secret: given }, address);
  return {
    attempt,
    assert: (address: string, assertion: string) =>
      authenticate({ method: "assertion", clientId: undefined, assertion }, address),
    slowDown: () => {
      isSlow = true;
    },
    /** The database answers one query after the other, until this has its result. */
    answerUntil: async <T>(result: Promise<T>): Promise<T> => {
      let isDone = false;
      void result.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        held.shift()?.();
        heldSignatures.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      return await result;
    },
    waiting: () => held.length,
    verifiedWith,
    slowSignatures: () => {
      areSignaturesSlow = true;
    },
  };
}

const floodFrom = (world: ReturnType<typeof createWorld>, blocks: number, each: number) => {
  for (let count = 0; count < each; count++)
    for (let block = 0; block < blocks; block++)
      void world.attempt(`10.${block >> 8}.${block & 255}.1`, "client", "wrong");
};

it("a flood from 64 address blocks does not lock out a client on another one", async () => {
  const world = createWorld();
  world.slowDown();
  floodFrom(world, 64, 100);
  const result = await world.answerUntil(world.attempt("192.0.2.7", "client", "right"));
  expect(isOAuthFault(result)).toBe(false);
});

it("a flood from more blocks than can wait does not lock out a client on a block that it has used before", async () => {
  const world = createWorld();
  expect(isOAuthFault(await world.attempt("192.0.2.7", "client", "right"))).toBe(false);
  world.slowDown();
  floodFrom(world, 4000, 1);
  const result = await world.answerUntil(world.attempt("192.0.2.7", "client", "right"));
  expect(isOAuthFault(result)).toBe(false);
});

it("neighbours that name a client with wrong secrets do not keep it from its tokens", async () => {
  const world = createWorld();
  expect(isOAuthFault(await world.attempt("192.0.2.7", "client", "right"))).toBe(false);
  world.slowDown();
  for (let count = 0; count < 200; count++) void world.attempt("192.0.2.7", "client", "wrong");
  const result = await world.answerUntil(world.attempt("192.0.2.7", "client", "right"));
  expect(isOAuthFault(result)).toBe(false);
});

it("nor do wrong assertions, even if the client was only named there before", async () => {
  const world = createWorld();
  expect(isOAuthFault(await world.assert("192.0.2.7", "forged"))).toBe(true);
  world.slowDown();
  for (let count = 0; count < 200; count++) void world.assert("192.0.2.7", "forged");
  const result = await world.answerUntil(world.assert("192.0.2.7", "signed"));
  expect(isOAuthFault(result)).toBe(false);
});

it("nor do so many that they fill the queue of signatures, together with wrong ones of another client", async () => {
  const world = createWorld();
  for (const name of ["client", "other"]) await world.assert("192.0.2.7", `forged ${name}`);
  world.slowDown();
  world.slowSignatures();
  for (let count = 0; count < 1004; count++) void world.assert("192.0.2.7", "forged other");
  for (let count = 0; count < 104; count++) void world.assert("192.0.2.7", "forged client");
  const result = await world.answerUntil(world.assert("192.0.2.7", "signed"));
  expect(isOAuthFault(result)).toBe(false);
});

it("the assertion of an unknown client waits for a signature as that of a known one does", async () => {
  const world = createWorld();
  await world.assert("192.0.2.7", "forged client");
  world.slowDown();
  world.slowSignatures();
  for (const name of ["client", "unknown"]) void world.assert("192.0.2.7", `forged ${name}`);
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.waiting()).toBe(0);
});

it("the assertion of an unknown client is verified with a key that nobody has, another one in each process", async () => {
  const keyOf = async () => {
    const world = createWorld();
    await world.assert("192.0.2.7", "forged unknown");
    return world.verifiedWith[0]?.toString("hex") ?? "";
  };
  const [one, other] = [await keyOf(), await keyOf()];
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(other).toMatch(/^[0-9a-f]{64}$/);
  expect(one).not.toBe(other);
});
