import { contractCheck, expect, NotOffered } from "../engine/check.js";
import { type Kit, membersOf } from "../engine/kit.js";
import { showValue } from "../engine/name-value.js";
import { isRefusal, type Reply } from "../http/reply.js";
import {
  acceptTransaction,
  expectDistinct,
  expectOne,
  expectOneOf,
  expectTwo,
  repeat,
  repeatedRequest,
  withoutKey,
} from "./key-scenarios.js";
import {
  awaitFinal,
  createTransaction,
  expectAccepted,
  expectRefused,
  findRepeatedId,
  showTransaction,
} from "./scenarios.js";
import { findShown } from "./shown-members.js";
import { createTogether } from "./together-checks.js";
import { stateOf } from "./transaction-state.js";

const create = "tx.create.admitted";
const read = "tx.get.found";
const once = "key.repeat.once";
const sameId = "key.repeat.same-id";
const elsewhere = "key.repeat.other-connection";
const writes = ["transaction"] as const;
/** A second transaction is only seen by its id, so what is lost has to be known first. */
const row = { needs: [create], unlessFailed: [read, createTogether], writes };
const racers = 5;
/** Requests with other keys before one is repeated. */
const keysBetween = 5;
const readsAfterRepetition = 3;
/** No longer than a UUID, which every target accepts that has not said otherwise. */
const caseKeyLength = 35;

/** A transaction whose request is repeated when it is final. */
const repeatedWhenFinal = (kit: Kit) =>
  kit.fixture("repeated when it was final", async (own) => {
    const first = await createTransaction(own);
    const final = await awaitFinal(own, first.id);
    const second = await repeat(own, first);
    // At once: what is carried out again can be final again soon.
    return { first, final, second, next: await own.send("GET", pathOf(first.id)) };
  });

const pathOf = (id: string) => `/v1/transactions/${encodeURIComponent(id)}`;

/** Whether an id is returned is open, so it is no failure. */
function warnOfLostId(kit: Kit, { status }: Reply): void {
  if (status === 202)
    kit.warn(
      "The 202 of a repeated request has no id, so a client that has not received the first response does not learn it. The contract does not say whether it must.",
    );
}

/** The answer to a repeated request is not shown, so another status of success is no failure either. */
function warnOfOtherStatus(kit: Kit, { status }: Reply): void {
  if (status < 300 && status !== 202)
    kit.warn(
      `A repeated request is answered with ${status}. The contract shows no status of success but 202 for this endpoint, and does not say which one a repetition has.`,
    );
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
      const { reply } = await kit.create({ keyHeader: "idempotency-key" });
      expectAccepted(kit, reply, "a request whose header is spelt idempotency-key");
    },
  ),
  contractCheck(
    once,
    "1.transactions",
    "A repeated request does not create a second transaction.",
    row,
    async (kit) => {
      const { first, second, third } = await repeatedRequest(kit);
      await expectOne(kit, first, second, "after the same request was sent twice with the same key");
      await expectOne(kit, first, third, "after the same request was sent three times with the same key");
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
      if (first.reply.status === 202) warnOfOtherStatus(kit, second.reply);
      const id = findRepeatedId(kit.target, second.reply);
      if (id === undefined) warnOfLostId(kit, second.reply);
      else
        expect(
          id === first.id,
          `the id ${showValue(first.id)} for the same request with the same key`,
          `the id ${id}`,
        );
    },
  ),
  contractCheck(
    elsewhere,
    "1.transactions",
    "A key is remembered on another connection.",
    { needs: [sameId], writes },
    async (kit) => {
      const first = await acceptTransaction(kit);
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
      const { first, second } = await repeatedWhenFinal(kit);
      await expectOne(kit, first, second, "after the same request was sent again when it was final");
    },
  ),
  contractCheck(
    "key.repeat.unchanged",
    "1.transactions",
    "A transaction is not carried out again or changed when its request is repeated.",
    { needs: ["key.repeat.final"], unlessFailed: ["tx.get.result-stays"], writes },
    async (kit) => {
      const { first, final, next } = await repeatedWhenFinal(kit);
      const sent = membersOf(kit, first.reference);
      const expectKept = (shown: Reply) => {
        const state = stateOf(kit.target, shown);
        expect(
          state === final.state,
          `the final state ${final.state} of ${first.id} also after its request was repeated with the same key`,
          `the state ${showValue(state)}`,
          shown,
        );
        for (const name of ["amount", "asset", "reference"] as const) {
          const [before, after] = [final.shown, shown].map(({ json }) => findShown(kit.target, json, name));
          // What is called so and is not what was sent may be something else, such as a live price.
          if (kit.target.shown[name] === undefined && before !== sent[name]) continue;
          expect(
            JSON.stringify(before) === JSON.stringify(after),
            `the ${name} ${showValue(before)} of ${first.id} also after its request was repeated with the same key`,
            `the ${name} ${showValue(after)}`,
            shown,
          );
        }
      };
      if (next.status === 200) expectKept(next);
      for (let reads = 0; reads < readsAfterRepetition; reads += 1) {
        expectKept(await showTransaction(kit, first.id));
        await kit.sleep(kit.target.timing.quietMs / readsAfterRepetition);
      }
    },
  ),
  contractCheck(
    "key.repeat.later",
    "1.transactions",
    "A key is still remembered after some seconds.",
    { needs: [elsewhere], unlessFailed: ["key.repeat.final"], writes },
    async (kit) => {
      const first = await acceptTransaction(kit);
      // A memory of a few keys forgets it.
      for (let others = 0; others < keysBetween; others += 1) await acceptTransaction(kit);
      await kit.sleep(kit.target.timing.keyMs);
      await expectOne(
        kit,
        first,
        await repeat(kit, first),
        `after the same request was sent ${kit.target.timing.keyMs} ms and ${keysBetween} other keys later`,
      );
    },
  ),
  contractCheck(
    "key.race",
    "1.transactions",
    "Requests with one key that arrive together create one transaction.",
    { needs: [elsewhere], writes },
    async (kit) => {
      const body = JSON.stringify(membersOf(kit, kit.newName()));
      const request = { key: kit.newKey(), body, isConcurrent: true };
      const attempts = await Promise.all(Array.from({ length: racers }, () => kit.create(request)));
      await expectOneOf(kit, attempts, `${racers} concurrent requests with one key`);
    },
  ),
  contractCheck(
    "key.case",
    "4.rule-2",
    "Keys that differ only in case are different keys.",
    row,
    async (kit) => {
      const name = `Key${kit.newKey().replaceAll("-", "")}`.slice(0, kit.session.keyLength ?? caseKeyLength);
      const what = "two keys that differ in case";
      if (await expectTwo(kit, [name.toLowerCase(), name.toUpperCase()], what)) return;
      throw new NotOffered(`Keys such as ${name} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.whole",
    "4.rule-2",
    "Keys are compared to their last character.",
    { ...row, unlessFailed: [read, createTogether, "key.case"] },
    async (kit) => {
      const what = "two keys that differ in their last character";
      const names = [270, 96, 32].map((length) => `${kit.newName()}-${"k".repeat(length)}`);
      const pairs = [...names, kit.newKey()].map(
        (name) => [`${name.slice(0, -1)}1`, `${name.slice(0, -1)}2`] as const,
      );
      for (const pair of pairs) if (await expectTwo(kit, pair, what)) return;
      throw new NotOffered(`Keys such as ${pairs.at(-1)?.[0]} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.punctuation",
    "4.rule-2",
    "Keys that differ only in where a hyphen or a space is, or after a comma, are different keys.",
    { ...row, unlessFailed: [read, createTogether, "key.case", "key.whole"] },
    async (kit) => {
      const letters = kit
        .newKey()
        .replaceAll("-", "")
        .slice(0, (kit.session.keyLength ?? caseKeyLength) - 1);
      const at = (index: number, sign: string) => `${letters.slice(0, index)}${sign}${letters.slice(index)}`;
      const pairs: [keys: [string, string], what: string][] = [
        [[at(3, "-"), at(4, "-")], "where a hyphen is"],
        [[at(5, " "), at(6, " ")], "where a space is"],
        [[at(7, ",").slice(0, 9), at(7, ",").slice(0, 10)], "what is after a comma"],
      ];
      let accepted = 0;
      for (const [keys, what] of pairs)
        accepted += (await expectTwo(kit, keys, `two keys that differ in ${what}`)) ? 1 : 0;
      if (accepted === 0) throw new NotOffered(`Keys such as ${at(3, "-")} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.distinct",
    "1.transactions",
    "The same body under two keys is two transactions, unless the second is refused.",
    { ...row, unlessFailed: [read, createTogether, "key.case"] },
    async (kit) => {
      const first = await acceptTransaction(kit);
      const { reply } = await kit.create({ body: first.body });
      if (isRefusal(reply))
        throw new NotOffered("The same body is refused under a second key, as a business rule may do.");
      await expectDistinct(kit, [first.reply, reply], "two transactions from one body under two keys");
    },
  ),
];
