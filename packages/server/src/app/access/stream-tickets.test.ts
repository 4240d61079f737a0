import { expect, it } from "vitest";
import type { Authenticated } from "./authenticate-request.js";
import { createStreamTickets, type TicketClaims } from "./stream-tickets.js";
import type { TokenClaims } from "./tokens.js";

/** Tickets whose database answers one query at a time, when the test says so. */
function createWorld() {
  const claims = { clientId: "client", expiresAtMs: 900_000 } as TokenClaims;
  const authenticated = { client: { id: "client", tenantId: "t" }, claims } as unknown as Authenticated;
  const used = new Set<string>();
  const held: (() => void)[] = [];
  let isSlow = false;
  let serial = 0;
  let nowMs = 0;
  let queries = 0;
  const { issue, redeem } = createStreamTickets({
    signer: {
      sign: (ticket) => JSON.stringify(ticket),
      verify: (ticket) => JSON.parse(ticket) as TicketClaims,
    },
    authenticator: { review: () => authenticated },
    nonces: {
      useNonce: async (_client, nonce) => {
        queries += 1;
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        const isFirst = !used.has(nonce);
        used.add(nonce);
        return isFirst;
      },
    },
    newUuid: () => String(++serial),
    now: () => nowMs,
  });
  return {
    issue: () => issue(authenticated).ticket,
    redeem,
    advance: (ms: number) => {
      nowMs += ms;
    },
    queries: () => queries,
    slowDown: () => {
      isSlow = true;
    },
    answerUntil: async <T>(result: Promise<T>): Promise<T> => {
      let isDone = false;
      void result.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        held.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      return await result;
    },
  };
}

it("replays of a used ticket neither reach the database nor keep its client from a stream", async () => {
  const world = createWorld();
  const stolen = world.issue();
  expect(await world.redeem(stolen)).toHaveProperty("client");
  world.slowDown();
  const replays = Array.from({ length: 200 }, () => world.redeem(stolen));
  expect(await world.answerUntil(world.redeem(world.issue()))).toHaveProperty("client");
  expect(world.queries()).toBe(2);
  expect(
    new Set((await Promise.all(replays)).map((answer) => "refused" in answer && answer.refused)),
  ).toEqual(new Set(["TICKET_INVALID"]));
});

it("many uses of one ticket at once do not keep its client from a stream with another", async () => {
  const world = createWorld();
  world.slowDown();
  const stolen = world.issue();
  for (let count = 0; count < 200; count++) void world.redeem(stolen);
  expect(await world.answerUntil(world.redeem(world.issue()))).toHaveProperty("client");
  expect(world.queries()).toBeLessThan(5);
});

it("a ticket that has expired says nothing about its client, as an expired token", async () => {
  const world = createWorld();
  const ticket = world.issue();
  world.advance(30_000);
  expect(await world.redeem(ticket)).toEqual({ refused: "TICKET_INVALID" });
});
