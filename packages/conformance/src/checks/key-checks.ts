import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { contractCheck, expect } from "../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../engine/kit.js";
import { describeReply, isRefusal } from "../http/reply.js";
import {
  awaitFinal,
  type Created,
  createTransaction,
  expectAccepted,
  expectRefused,
  findId,
  shownMember,
  showTransaction,
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
  const shown = await kit.send("GET", `/v1/transactions/${encodeURIComponent(id)}`);
  expect(shown.status !== 200, `one transaction, ${first.id}, ${what}`, `a second one, ${id}`);
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
      const key = `${kit.newName()}-key`;
      const fields = { reference: kit.newName() };
      const attempts = await Promise.all(Array.from({ length: racers }, () => kit.create({ key, fields })));
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
    "key.reused",
    "4.rule-2",
    "A key that is reused for another body does not create a second transaction.",
    { needs: [elsewhere], writes },
    async (kit) => {
      const { first, second } = await reusedKey(kit);
      await expectOne(kit, first, second, "after its key was reused with another body");
    },
  ),
  contractCheck(
    "key.reused.unchanged",
    "4.rule-2",
    "Reusing a key does not change the first transaction.",
    { needs: ["key.reused", "tx.get.own"], writes },
    async (kit) => {
      const { first } = await reusedKey(kit);
      const reference = shownMember(kit.target, (await showTransaction(kit, first.id)).json, "reference");
      expect(
        reference === first.reference,
        `the reference ${first.reference} of the first request`,
        `the reference ${String(reference)} after the key was reused`,
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
      await expectTwo(kit, [name.toLowerCase(), name.toUpperCase()], "two keys that differ in case");
    },
  ),
  contractCheck(
    "key.whole",
    "4.rule-2",
    "Keys are compared to their last character.",
    { needs: ["key.case"], writes },
    async (kit) => {
      const name = `${kit.newName()}-${"k".repeat(32)}`;
      await expectTwo(kit, [`${name}-1`, `${name}-2`], "two keys that differ in their last character");
    },
  ),
  contractCheck(
    "key.distinct",
    "4.rule-2",
    "The same body under two keys is two transactions.",
    { needs: ["key.case"], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      const second = await createTransaction(kit, { body: first.body });
      expect(first.id !== second.id, "two transactions from one body under two keys", `${first.id} twice`);
    },
  ),
  contractCheck(
    "key.refusal",
    "4.rule-2",
    "A request that was refused does not use up its key.",
    { needs: ["body.amount.number"], writes },
    async (kit) => {
      const refused = await numberAmount(kit);
      const { reply } = await kit.create({ key: refused.key });
      expect(
        reply.status === 202,
        "status 202 for a valid request under a key whose first request was refused",
        describeReply(reply),
      );
    },
  ),
];

export const reusedKey = (kit: Kit) =>
  kit.fixture("reused key", async (own) => {
    const first = await createTransaction(own);
    return { first, second: await own.create({ key: first.key }) };
  });

async function expectTwo(kit: Kit, keys: readonly [string, string], what: string): Promise<void> {
  const ids: string[] = [];
  for (const key of keys) {
    const { reply } = await kit.create({ key });
    expect(reply.status === 202, `status 202 for each of ${what}`, describeReply(reply));
    const id = findId(kit.target, reply)?.id;
    if (id !== undefined) ids.push(id);
  }
  expect(new Set(ids).size === ids.length, `two transactions for ${what}`, `one, ${ids[0]}`);
}
