import {
  CheckFailed,
  contractCheck,
  expect,
  fail,
  NotOffered,
  Undecided,
  WaitsFor,
} from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { showValue } from "../engine/name-value.js";
import { describeReply, isRefusal, type Reply } from "../http/reply.js";
import { itemOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { expectOne, repeat } from "./keys/key-scenarios.js";
import { sendNew } from "./keys/new-key.js";
import {
  awaitFinal,
  type Created,
  expectAccepted,
  failOverdue,
  requireId,
  settledTransaction,
  showTransaction,
} from "./scenarios.js";
import { expectOwn } from "./shown-members.js";
import { stateOf } from "./transaction-state.js";
import { endpoint } from "./webhooks/webhook-endpoint.js";
import { isAbout } from "./webhooks/webhook-names.js";
import { isSameContent } from "./webhooks/webhook-retry-scenario.js";
import { allStatesIn, announced, hold, statesIn } from "./webhooks/webhook-scenarios.js";

const result = "failed.result";
const announcement = "failed.announced";
/** A wallet, because one of them is empty. */
const writes = ["transaction", "wallet", "webhook endpoint"] as const;
const readsAfterwards = 3;

const failingFields = (kit: Kit) =>
  kit.fixture("members that make a transaction fail", async (own) => {
    const fields = own.target.fails ?? (await own.target.findFailing?.(own));
    if (fields !== undefined) return fields;
    throw new NotOffered(
      "The target file names no request that is accepted and whose transaction then fails (fails).",
    );
  });

/** Sends the request of a transaction that fails. Whether a service accepts one is open. */
async function createFailing(kit: Kit): Promise<Created> {
  const attempt = await sendNew(kit, { fields: await failingFields(kit) });
  if (isRefusal(attempt.reply))
    throw new Undecided(
      `The request with the members of fails in the target file is refused at once, and may be: ${describeReply(attempt.reply)}. Name one that is accepted and whose transaction then fails.`,
    );
  expectAccepted(kit, attempt.reply);
  return { ...attempt, id: requireId(kit.target, attempt.reply) };
}

const failedTransaction = (kit: Kit) =>
  kit.fixture("failed transaction", async (own) => {
    const created = await createFailing(own);
    return { ...created, ...(await awaitFinal(own, created.id)) };
  });

/** Reads a transaction some times: its final state is what it was. */
async function expectKept(
  kit: Kit,
  { id, state }: { id: string; state: string },
  how: string,
): Promise<void> {
  for (let reads = 0; reads < readsAfterwards; reads += 1) {
    const shown = await showTransaction(kit, id);
    const now = stateOf(kit.target, shown);
    expect(
      now === state,
      `the final state ${state} of ${id}, which has failed, ${how}`,
      `the state ${showValue(now)}`,
      shown,
    );
    await kit.sleep(kit.target.timing.quietMs / readsAfterwards);
  }
}

/** A GET that shows another transaction says nothing about this one, and is found when all are read at the end. */
function waitIfAnother(kit: Kit, { shown, id, reference }: Created & { shown: Reply }): void {
  try {
    expectOwn(kit, shown, { id, reference });
  } catch (error) {
    if (error instanceof CheckFailed) throw new WaitsFor("tx.get.every");
    if (!(error instanceof NotOffered)) throw error;
  }
}

/** A transaction that fails, whose first notification with the result is answered with 500. */
const announcedFailure = (kit: Kit) =>
  kit.fixture("announced failure", async (own) => {
    const { timing, finalStates } = own.target;
    const before = await announced(own);
    if (!before.isAttributed)
      throw new NotOffered("Notifications do not say which transaction they are about.");
    const { receiver } = await endpoint(own);
    const start = receiver.deliveries.length;
    const isResult = (state: string) => finalStates.includes(state);
    const haveResults = before.deliveries.some((one) => allStatesIn(own, one, before.created).some(isResult));
    let created: Created | undefined;
    let first: Delivery | undefined;
    const creation = createFailing(own).then((accepted) => {
      created = accepted;
      return accepted;
    });
    receiver.answerWith(async (delivery) => {
      if (first !== undefined || !before.isUpdate(delivery)) return 204;
      await hold(own, creation);
      const isMeant = created !== undefined && isAbout(own, delivery, created);
      if (first !== undefined || created === undefined || !isMeant) return 204;
      if (haveResults && !statesIn(own, delivery, created).some(isResult)) return 204;
      first = delivery;
      return 500;
    });
    const failing = await creation;
    const { state } = await awaitFinal(own, failing.id);
    await own.watch(timing.webhookMs, async () => first);
    const after = () => receiver.deliveries.slice(start);
    return { created: failing, state, first: first as Delivery | undefined, haveResults, after };
  });

/** A transaction that fails, if the target file names a request for one: its result is one as any other. */
export const failingChecks = [
  contractCheck(
    result,
    "4.rule-4",
    "A transaction that fails ends in another final state than one that does not, and stays in it.",
    { needs: ["tx.get.result"], unlessFailed: ["tx.get.result-stays", "tx.get.own"], writes },
    async (kit) => {
      const { state: usual } = await settledTransaction(kit);
      const failed = await failedTransaction(kit);
      waitIfAnother(kit, failed);
      expect(
        failed.state !== usual,
        `another final state than ${usual} for ${failed.id}, which fails (fails of the target file)`,
        `the state ${failed.state}`,
        failed.shown,
      );
      await expectKept(kit, failed, "at every later GET");
    },
  ),
  contractCheck(
    "failed.repeat",
    "1.transactions",
    "A transaction that has failed is neither created nor carried out again when its request is repeated.",
    { needs: [result, "key.repeat.final"], unlessFailed: ["key.repeat.unchanged"], writes },
    async (kit) => {
      const failed = await failedTransaction(kit);
      const second = await repeat(kit, failed);
      await expectOne(kit, failed, second, "after the same request was sent again when it had failed");
      await expectKept(kit, failed, "also after its request was repeated with the same key");
    },
  ),
  contractCheck(
    announcement,
    "3.state",
    "A transaction that fails is announced, with the state that GET shows.",
    {
      needs: [result, "webhook.each"],
      unlessFailed: [
        "webhook.each.later",
        "webhook.result",
        "webhook.event.name",
        "webhook.delivery-id.unique",
      ],
      writes,
    },
    async (kit) => {
      const { created, state, first, haveResults, after } = await announcedFailure(kit);
      if (first === undefined) {
        const about = after().filter((one) => isAbout(kit, one, created));
        kit.attach(about);
        const wanted = `a notification that ${created.id} has failed, whose state is ${state}`;
        failOverdue(kit, "webhookMs", wanted, `${about.length} about it, none of which says so`);
      }
      const said = statesIn(kit, first, created);
      if (!haveResults || said.includes(state)) return;
      const wanted = `the state ${state} of ${created.id}, which GET shows, in the notification with its result`;
      const seen = `the state ${said.join(", ")} in notification ${first.index}`;
      if (kit.target.webhooks?.state !== undefined) fail(wanted, seen, [first]);
      kit.warn(
        `Expected ${wanted}; seen ${seen}. It may be something else; webhooks.state of the target file can name the place of the state.`,
      );
    },
  ),
  contractCheck(
    "failed.retry",
    "6.delivered",
    "A notification that a transaction has failed is sent again with its delivery_id if the receiver refuses it.",
    { needs: [announcement, "webhook.retry", "webhook.retry.same-id"], writes },
    async (kit) => {
      const { created, first, after } = await announcedFailure(kit);
      if (first === undefined) return;
      const id = itemOf(first, "delivery_id");
      const later = () => after().filter((one) => one.index > first.index);
      const again = await kit.watch(kit.target.timing.retryMs, async () =>
        later().find((one) => itemOf(one, "delivery_id") === id),
      );
      if (again !== undefined) return;
      kit.attach([first]);
      const renamed = later().find((one) => isSameContent(one, first));
      if (renamed !== undefined)
        fail(
          `the delivery_id ${showValue(id)} of notification ${first.index}, which says that ${created.id} has failed, at the next attempt`,
          `the same content under the delivery_id ${showValue(itemOf(renamed, "delivery_id"))} (notification ${renamed.index})`,
          [first, renamed],
        );
      // What is put together with other items is another delivery.
      if (later().some((one) => isAbout(kit, one, created))) return;
      const wanted = `another attempt after notification ${first.index}, which says that ${created.id} has failed, was answered with 500`;
      failOverdue(kit, "retryMs", wanted, "none, although those of other transactions were repeated");
    },
  ),
];
