import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../engine/kit.js";
import { describeReply, isRefusal } from "../http/reply.js";
import {
  awaitFinal,
  type Created,
  createTransaction,
  expectAccepted,
  expectRefused,
  findId,
  requireId,
} from "./scenarios.js";

const create = "tx.create.accepted";
const read = "tx.get.found";
const once = "key.repeat.once";
const sameId = "key.repeat.same-id";
const elsewhere = "key.repeat.other-connection";
const writes = ["transaction"] as const;
const racers = 5;

export const withoutKey = (kit: Kit) => kit.fixture("without key", (own) => own.create({ key: null }));
export const numberAmount = (kit: Kit) =>
  kit.fixture("amount as a number", (own) =>
    own.create({ fields: { amount: Number(own.target.transaction.amount) } }),
  );

/** The original and its repetition on one connection, so that a key that belongs to a connection is found by another check. */
export const repeatedRequest = (kit: Kit) =>
  kit.fixture("repeated request", async (own) => {
    const agent = new (own.target.baseUrl.protocol === "https:" ? SecureAgent : Agent)({
      keepAlive: true,
      maxSockets: 1,
    });
    try {
      const first = await createTransaction(own, { agent });
      return { first, second: await repeat(own, first, { agent }) };
    } finally {
      agent.destroy();
    }
  });

const repeat = (kit: Kit, { key, body }: Attempt, options: CreateOptions = {}) =>
  kit.create({ key, body, ...options });

/** The second response is an error, or shows the same transaction, or at least no other one that exists. */
export async function expectOne(kit: Kit, first: Created, second: Attempt, what: string): Promise<void> {
  if (isRefusal(second.reply)) return;
  const id = findId(kit.target, second.reply)?.id;
  if (id === undefined || id === first.id) return;
  // A second transaction need not be found at once.
  const shown = await kit.poll(kit.target.timing.resultMs, async () => {
    const reply = await kit.send("GET", `/v1/transactions/${encodeURIComponent(id)}`);
    return reply.status === 200 ? reply : undefined;
  });
  expect(shown === undefined, `one transaction, ${first.id}, ${what}`, `a second one, ${id}`);
}

/** The idempotency key. How a repetition is answered is open; that it creates nothing is not. */
export const keyChecks = [
  contractCheck(
    "key.required",
    "8.key",
    "A request without Idempotency-Key is not accepted.",
    { needs: [create], writes },
    async (kit) => {
      expectRefused((await withoutKey(kit)).reply, "a request without Idempotency-Key");
    },
  ),
  contractCheck(
    "key.empty",
    "4.rule-1",
    "An empty Idempotency-Key is not accepted.",
    { needs: ["key.required"], writes },
    async (kit) => {
      expectRefused((await kit.create({ key: "" })).reply, "a request with an empty Idempotency-Key");
    },
  ),
  contractCheck(
    "key.header-name",
    "4.post-transactions",
    "The name of the header is understood in lower case, as HTTP requires.",
    { needs: ["key.required"], writes },
    async (kit) => {
      expectAccepted((await kit.create({ keyHeader: "idempotency-key" })).reply);
    },
  ),
  contractCheck(
    once,
    "1.transactions",
    "A repeated request does not create a second transaction.",
    { needs: [read], writes },
    async (kit) => {
      const { first, second } = await repeatedRequest(kit);
      await expectOne(kit, first, second, "after the same request was sent twice with the same key");
    },
  ),
  contractCheck(
    sameId,
    "1.transactions",
    "A repeated request that is accepted shows the id of the first.",
    { needs: [once], writes },
    async (kit) => {
      const { first, second } = await repeatedRequest(kit);
      if (isRefusal(second.reply)) return;
      const id = findId(kit.target, second.reply)?.id;
      expect(id === first.id, `the id ${first.id} for the same request with the same key`, `the id ${id}`);
    },
  ),
  contractCheck(
    "key.repeat.status",
    "4.post-transactions",
    "A repeated request that is accepted is answered with 202.",
    { needs: [sameId], writes },
    async (kit) => {
      const { reply } = (await repeatedRequest(kit)).second;
      expect(
        reply.status === 202 || isRefusal(reply),
        "status 202 or an error for a repeated request",
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    elsewhere,
    "1.transactions",
    "A key is remembered on another connection.",
    { needs: [sameId], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      await expectOne(
        kit,
        first,
        await repeat(kit, first),
        "after the same request was sent on another connection",
      );
    },
  ),
  contractCheck(
    "key.repeat.final",
    "1.transactions",
    "A key is still remembered when the transaction is final.",
    { needs: [elsewhere, "tx.get.result"], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      await awaitFinal(kit, first.id);
      await expectOne(
        kit,
        first,
        await repeat(kit, first),
        "after the same request was sent again when it was final",
      );
    },
  ),
  contractCheck(
    "key.repeat.later",
    "1.transactions",
    "A key is still remembered after some seconds.",
    { needs: [elsewhere], unlessFailed: ["key.repeat.final"], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      await kit.sleep(kit.target.timing.keyMs);
      await expectOne(
        kit,
        first,
        await repeat(kit, first),
        `after the same request was sent ${kit.target.timing.keyMs} ms later`,
      );
    },
  ),
  contractCheck(
    "key.race",
    "1.transactions",
    "Requests with one key that arrive together create one transaction.",
    { needs: [elsewhere], writes },
    async (kit) => {
      const request = { key: kit.newKey(), fields: { reference: kit.newName() }, isConcurrent: true };
      const attempts = await Promise.all(Array.from({ length: racers }, () => kit.create(request)));
      const ids = new Set(
        attempts.flatMap(({ reply }) => (isRefusal(reply) ? [] : [findId(kit.target, reply)?.id])),
      );
      expect(
        ids.size > 0,
        `one of ${racers} concurrent requests with one key to be accepted`,
        `${racers} refusals`,
      );
      expect(
        ids.size === 1,
        `one transaction from ${racers} concurrent requests with one key`,
        `${ids.size}: ${[...ids].join(", ")}`,
      );
    },
  ),
  contractCheck(
    "key.case",
    "4.rule-2",
    "Keys that differ only in case are different keys.",
    { needs: [read], writes },
    async (kit) => {
      const name = `${kit.newName()}-Key`;
      const what = "two keys that differ in case";
      if (await expectTwo(kit, [name.toLowerCase(), name.toUpperCase()], what)) return;
      throw new NotOffered(`Keys such as ${name} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.whole",
    "4.rule-2",
    "Keys are compared to their last character.",
    { needs: [read], unlessFailed: ["key.case"], writes },
    async (kit) => {
      const what = "two keys that differ in their last character";
      const pairs = [`${kit.newName()}-${"k".repeat(32)}`, kit.newKey()].map(
        (name) => [`${name.slice(0, -1)}1`, `${name.slice(0, -1)}2`] as const,
      );
      for (const pair of pairs) if (await expectTwo(kit, pair, what)) return;
      throw new NotOffered(`Keys such as ${pairs[1]?.[0]} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.distinct",
    "1.transactions",
    "The same body under two keys is two transactions, unless the second is refused.",
    { needs: [read], unlessFailed: ["key.case"], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      const { reply } = await kit.create({ body: first.body });
      if (isRefusal(reply))
        throw new NotOffered("The same body is refused under a second key, as a business rule may do.");
      const id = requireId(kit.target, reply);
      expect(first.id !== id, "two transactions from one body under two keys", `${id} twice`);
    },
  ),
];

export const reusedKey = (kit: Kit) =>
  kit.fixture("reused key", async (own) => {
    const first = await createTransaction(own);
    return { first, second: await own.create({ key: first.key }) };
  });

/** False if the keys are refused: their length and their form are open. */
async function expectTwo(kit: Kit, keys: readonly [string, string], what: string): Promise<boolean> {
  const ids: string[] = [];
  for (const key of keys) {
    const { reply } = await kit.create({ key });
    if (isRefusal(reply) && ids.length === 0) return false;
    expect(reply.status === 202, `status 202 for each of ${what}`, describeReply(reply));
    ids.push(requireId(kit.target, reply));
  }
  expect(new Set(ids).size === ids.length, `two transactions for ${what}`, `one, ${ids[0]}`);
  return true;
}
