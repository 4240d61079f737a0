import { contractCheck, expect, fail } from "../../engine/check.js";
import { compareDecimals, parseDecimal, parseScientific } from "../../engine/decimal.js";
import type { Kit } from "../../engine/kit.js";
import { describeValue } from "../../engine/name-value.js";
import type { Reply } from "../../http/reply.js";
import { awaitFinal, foundCheck, sharedTransaction, showTransaction } from "../scenarios.js";
import { createdInRun, findShown } from "../shown-members.js";
import { stateOf } from "../transaction-state.js";
import { expectFoundAgain } from "./found-again.js";
import { finalIn, readsOf, type Sent, sentInRun } from "./run-transactions.js";
import { expectOneEach, expectOneIdEach } from "./second-transactions.js";

/**
 * Most transactions of a run belong to checks that look at something else. These checks read all of them at the end, and compare what
 * the whole run has shown.
 */

/** A target with a small quota or slow responses is read for so long, and the rest is left out. */
const sweepMs = 15_000;
/** Requests that are left for other checks. */
const requestsLeft = 40;
/** Of those whose result was read before, some are read once more. */
const rereadMax = 8;

/** Reads every transaction of the run of which no result was seen, and before, because they are few, some of the others once more. */
const sweep = (kit: Kit): Promise<{ last: ReadonlyMap<Sent, Reply> }> =>
  kit.fixture("all transactions at the end", async (own) => {
    const started = performance.now();
    const { session } = own;
    const all = sentInRun(own).map((sent) => ({ sent, reads: readsOf(own, sent.id) }));
    const isSettled = ({ reads }: (typeof all)[number]) => reads.some((one) => finalIn(own, one));
    const settled = all.filter(isSettled);
    const last = new Map<Sent, Reply>();
    for (const { sent, reads } of settled) {
      const [read] = reads.filter((one) => one.status === 200).slice(-1);
      if (read !== undefined) last.set(sent, read);
    }
    for (const { sent } of [...settled.slice(0, rereadMax), ...all.filter((one) => !isSettled(one))]) {
      const isLate = performance.now() - started > sweepMs || performance.now() + sweepMs > session.deadline;
      if (isLate || session.exchanges.length + requestsLeft > session.bounds.requestsMax) break;
      last.set(sent, await showTransaction(own, sent.id));
    }
    return { last };
  });

const isSameAmount = (sent: unknown, shown: unknown) => {
  const [wanted, seen] = [parseDecimal(String(sent)), parseScientific(String(shown))];
  return wanted !== undefined && seen !== undefined && compareDecimals(wanted, seen) === 0;
};

const comparisons = {
  amount: isSameAmount,
  asset: (sent: unknown, shown: unknown) => sent === shown,
  reference: (sent: unknown, shown: unknown) => sent === shown,
};
type Compared = keyof typeof comparisons;
const comparedNames = Object.keys(comparisons) as Compared[];

/** What a target surely understands as it is meant: what the target file names, and references without anything unusual. */
function isUsual({ target }: Kit, name: Compared, value: unknown): boolean {
  // What is left out has no value to compare, whatever the target file leaves out.
  if (typeof value !== "string") return false;
  if (name === "reference") return /^[\w-]{1,64}$/.test(value);
  const { transaction, exact } = target;
  return value === transaction[name] || value === exact?.[name];
}

/** The members that GET shows as they were sent, at the place that the target file names or has shown so. */
async function knownMembers(kit: Kit): Promise<Compared[]> {
  const shared = await sharedTransaction(kit);
  // The first time counts: what changes later is a failure of its own.
  const { json } =
    readsOf(kit, shared.id).find(({ status }) => status === 200) ?? (await showTransaction(kit, shared.id));
  const sent: Record<string, unknown> = { ...kit.target.transaction, reference: shared.reference };
  return comparedNames.filter((name) => comparisons[name](sent[name], findShown(kit.target, json, name)));
}

/** A business rule may hold back what is unusual, so that only what the target file calls safe surely has a result. */
const isOrdinary = (kit: Kit, { members }: Sent) =>
  members["amount"] === kit.target.transaction.amount &&
  comparedNames.every((name) => isUsual(kit, name, members[name]));

const everyResult = "tx.get.every-result";
const shownChecks = ["shown.amount.equal", "shown.amount.exact", "shown.asset", "shown.reference"];
const keyChecks = [
  "key.repeat.once",
  "key.repeat.same-id",
  "key.repeat.final",
  "key.repeat.later",
  "key.repeat.unchanged",
  "key.race",
  "key.distinct",
];
const writes = ["transaction"] as const;

export const everyReadChecks = [
  contractCheck(
    "tx.get.every",
    "4.get-transaction",
    "Every transaction that was accepted during the run can be read at its end, with what was sent.",
    {
      needs: [foundCheck],
      unlessFailed: [
        ...shownChecks,
        ...keyChecks,
        "tx.get.own",
        "tx.get.result-kept",
        "tx.get.together",
        "tx.create.together",
        "tx.get.state",
      ],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const { last } = await sweep(kit);
      const names = await knownMembers(kit);
      for (const [{ id, members }, reply] of last)
        for (const name of names.filter((one) => isUsual(kit, one, members[one]))) {
          const value = findShown(kit.target, reply.json, name);
          expect(
            comparisons[name](members[name], value),
            `the ${name} ${String(members[name])} of ${id}, as it was sent, also at the end of the run`,
            `the ${name} ${typeof value === "string" ? value : describeValue(value)}`,
            reply,
          );
        }
    },
  ),
  contractCheck(
    "tx.get.every-found",
    "4.get-transaction",
    "No transaction of the run that GET has shown is refused by a later GET.",
    { needs: [foundCheck], unlessFailed: ["tx.get.every"], writes, atEnd: true },
    async (kit) => {
      await sweep(kit);
      await expectFoundAgain(kit);
    },
  ),
  contractCheck(
    "tx.get.every-final",
    "4.rule-4",
    "No transaction of the run has another state after a final state was read.",
    {
      needs: ["tx.get.result"],
      unlessFailed: [
        "tx.get.every-found",
        "tx.get.result-stays",
        "tx.get.result-minute",
        "tx.get.result-kept",
        "tx.get.every",
        "failed.result",
        "failed.repeat",
        "key.repeat.unchanged",
      ],
      writes,
      atEnd: true,
    },
    async (kit) => {
      await sweep(kit);
      for (const { id } of sentInRun(kit)) {
        let first: string | undefined;
        for (const reply of readsOf(kit, id)) {
          const state = finalIn(kit, reply);
          first ??= state;
          if (first === undefined || state === first || reply.status !== 200) continue;
          const wanted = `the final state ${first} of ${id}, which GET had shown, at every later GET`;
          fail(wanted, `the state ${stateOf(kit.target, reply)}`, reply);
        }
      }
    },
  ),
  contractCheck(
    everyResult,
    "4.rule-4",
    "Every usual transaction of the run has a result at its end.",
    {
      needs: ["tx.get.result"],
      unlessFailed: ["tx.get.every", "tx.get.every-found", "tx.get.every-final"],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const { last } = await sweep(kit);
      const isRead = ({ id }: Sent) => readsOf(kit, id).some((one) => finalIn(kit, one) !== undefined);
      const open = [...last.keys()].filter((sent) => isOrdinary(kit, sent) && !isRead(sent));
      for (const { id } of open) await awaitFinal(kit, id, everyResult);
    },
  ),
  contractCheck(
    "tx.create.once",
    "1.transactions",
    "No request of the run has created two transactions.",
    {
      needs: ["webhook.sent"],
      unlessFailed: [
        "webhook.each",
        "tx.get.every",
        "failed.repeat",
        "key.repeat.nothing-created",
        "refused.nothing-created",
        "key.hang-up",
        "key.repeat.each",
        ...keyChecks,
      ],
      writes: ["transaction", "webhook endpoint"],
      atEnd: true,
    },
    async (kit) => {
      const isSame = (name: Compared, sent: unknown, shown: unknown) => comparisons[name](sent, shown);
      const { acceptedId, webhooks } = kit.target;
      const place = webhooks?.transactionId;
      const hasIds = acceptedId !== undefined || createdInRun(kit).some(({ id }) => id !== undefined);
      if (!hasIds && place !== undefined) {
        await expectOneIdEach(kit, place, { isSame });
        return;
      }
      const names = await knownMembers(kit);
      const isUsualReference = ({ members }: Sent) => isUsual(kit, "reference", members["reference"]);
      await expectOneEach(kit, { names, isSame, sent: sentInRun(kit).filter(isUsualReference) });
    },
  ),
];
