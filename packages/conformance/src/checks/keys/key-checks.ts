import { CheckFailed, contractCheck, expect } from "../../engine/check.js";
import { type Attempt, type Kit, membersOf } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";
import { percentEncode } from "../../http/percent-encode.js";
import { isRefusal, type Reply } from "../../http/reply.js";
import {
  awaitFinal,
  createTransaction,
  expectAccepted,
  expectRefused,
  findRepeatedId,
  settledTransaction,
  showTransaction,
} from "../scenarios.js";
import { expectMembersKept } from "../shown-members.js";
import { createTogether } from "../together-checks.js";
import { stateOf } from "../transaction-state.js";
import {
  acceptTransaction,
  expectOne,
  expectOneOf,
  repeat,
  repeatedRequest,
  sameIdCheck as sameId,
  withoutKey,
} from "./key-scenarios.js";

const create = "tx.create.admitted";
const read = "tx.get.found";
const once = "key.repeat.once";
const elsewhere = "key.repeat.other-connection";
const writes = ["transaction"] as const;
/** A second transaction is only seen by its id, so what is lost has to be known first. */
const row = { needs: [create], unlessFailed: [read, createTogether], writes };
const racers = 10;
/** When the request is sent again that has no answer yet. */
const lateMs = [150, 500, 1500] as const;
/** Requests with other keys before one is repeated. */
const keysBetween = 5;
const readsAfterRepetition = 3;
/** Of a transaction that was not repeated. */
const controlReads = 10;
const staysCheck = "tx.get.result-stays";

/** Of so many states before the final one. */
const statesMax = 4;

/** A transaction whose request is repeated when it is final, and another one whose request is repeated in each state before that. */
const repeatedWhenFinal = (kit: Kit) =>
  kit.fixture("repeated when it was final", async (own) => {
    const first = await createTransaction(own);
    // Another one, because a repetition can change what it repeats.
    const other = await createTransaction(own);
    const before = new Map<string, Attempt>();
    const [final] = await Promise.all([
      awaitFinal(own, first.id),
      awaitFinal(own, other.id, undefined, async (state) => {
        if (!before.has(state) && before.size < statesMax) before.set(state, await repeat(own, other));
      }),
    ]);
    const second = await repeat(own, first);
    // At once: what is carried out again can be final again soon.
    return { first, other, before, final, second, next: await own.send("GET", pathOf(first.id)) };
  });

const pathOf = (id: string) => `/v1/transactions/${percentEncode(id)}`;

/** Whether a final state stays if nothing is repeated. Stale answers are not the fault of a repetition. */
async function staysWithoutRepetition(kit: Kit): Promise<boolean> {
  const { id, state } = await settledTransaction(kit);
  for (let reads = 0; reads < controlReads; reads += 1)
    if (stateOf(kit.target, await showTransaction(kit, id)) !== state) return false;
  return true;
}

/** A client that has no answer asks again while the first request is still carried out: a lock can end before the work does. */
async function sendWhileUnanswered<T>(
  kit: Kit,
  sent: readonly Promise<T>[],
  send: () => Promise<T>,
): Promise<Promise<T>[]> {
  const all = Promise.allSettled(sent).then(() => true);
  const later: Promise<T>[] = [];
  for (const [at, dueMs] of lateMs.entries()) {
    const pause = kit.sleep(dueMs - (lateMs[at - 1] ?? 0)).then(() => false);
    if (await Promise.race([all, pause])) break;
    const next = send();
    // It is awaited with the others.
    next.catch(() => undefined);
    later.push(next);
  }
  return later;
}

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
    "A key is still remembered in each state that the transaction has, and when it is final.",
    { needs: [elsewhere, "tx.get.result"], writes },
    async (kit) => {
      const { first, other, before, second } = await repeatedWhenFinal(kit);
      for (const [state, attempt] of before)
        await expectOne(kit, other, attempt, `after the same request was sent again in the state ${state}`);
      await expectOne(kit, first, second, "after the same request was sent again when it was final");
    },
  ),
  contractCheck(
    "key.repeat.unchanged",
    "1.transactions",
    "A transaction is not carried out again or changed when its request is repeated.",
    { needs: ["key.repeat.final"], unlessFailed: [staysCheck], writes },
    async (kit) => {
      const { first, final, next } = await repeatedWhenFinal(kit);
      const sent = membersOf(kit, first.reference);
      const how = "also after its request was repeated with the same key";
      const expectKept = async (shown: Reply) => {
        const state = stateOf(kit.target, shown);
        if (state !== final.state)
          throw new CheckFailed(
            `the final state ${final.state} of ${first.id} ${how}`,
            `the state ${showValue(state)}`,
            (await staysWithoutRepetition(kit)) ? undefined : staysCheck,
            shown,
          );
        expectMembersKept(kit, { id: first.id, sent, before: final.shown, how }, shown);
      };
      if (next.status === 200) await expectKept(next);
      for (let reads = 0; reads < readsAfterRepetition; reads += 1) {
        await expectKept(await showTransaction(kit, first.id));
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
      const sent = Array.from({ length: racers }, () => kit.create(request));
      const later = await sendWhileUnanswered(kit, sent, () => kit.create(request));
      const last =
        later.length === 0
          ? ""
          : `, the last of them after ${lateMs[later.length - 1]} ms without an answer to the first`;
      const attempts = await Promise.all([...sent, ...later]);
      await expectOneOf(kit, attempts, `${attempts.length} concurrent requests with one key${last}`);
    },
  ),
];
