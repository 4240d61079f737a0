import { contractCheck, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { type Accepted, acceptTransaction } from "../keys/key-scenarios.js";
import { failOverdue } from "../scenarios.js";
import { endpoint } from "./webhook-endpoint.js";
import { isAbout, nameOf } from "./webhook-names.js";
import { announced, hold, statesIn } from "./webhook-scenarios.js";

/** A receiver that does not answer. How long a sender waits is open, so it takes a while. */
export const webhookTimeoutCheck = contractCheck(
  "webhook.retry.timeout",
  "6.delivered",
  "A notification is sent again after the sender has waited for an answer in vain.",
  {
    needs: ["webhook.retry", "webhook.each"],
    unlessFailed: ["webhook.delivery-id.unique", "webhook.retry.same-id", "webhook.each.later"],
    writes: ["transaction", "webhook endpoint"],
    slow: true,
  },
  async (kit) => {
    if (!(await announced(kit)).isAttributed)
      throw new NotOffered("Notifications do not say which transaction they are about.");
    const { slowMs, webhookMs } = kit.target.timing;
    const held = await holdFirst(kit);
    try {
      const created = await held.creation;
      const about = `a notification about ${nameOf(created)}`;
      const first =
        (await kit.watch(webhookMs, async () => held.first())) ??
        failOverdue(kit, "webhookMs", about, "none", "webhook.each.later");
      kit.attach([first]);
      await expectAgain(kit, first, created, slowMs);
    } finally {
      held.end();
    }
  },
);

/** Creates a transaction whose first notification has no answer. All others have one. */
async function holdFirst(kit: Kit) {
  const { receiver } = await endpoint(kit);
  const before = new Set(receiver.deliveries.map((one) => itemOf(one, "delivery_id")));
  before.delete(undefined);
  let first: Delivery | undefined;
  let created: Accepted | undefined;
  let end = () => {};
  const release = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isOver = false;
  const creation = acceptTransaction(kit).then((accepted) => {
    created = accepted;
    return accepted;
  });
  // It is awaited by the check.
  creation.catch(() => undefined);
  receiver.holdIf(async (delivery) => {
    if (isOver || first !== undefined || before.has(itemOf(delivery, "delivery_id"))) return false;
    await hold(kit, creation);
    if (first !== undefined || created === undefined || !isAbout(kit, delivery, created)) return false;
    first = delivery;
    return true;
  }, release);
  return {
    creation,
    first: () => first,
    end: () => {
      isOver = true;
      end();
    },
  };
}

/** Another attempt can come before the sender closes the connection of the first, or in a batch of its own. */
async function expectAgain(kit: Kit, first: Delivery, created: Accepted, slowMs: number): Promise<void> {
  const { receiver } = await endpoint(kit);
  const started = first.receivedAt.getTime();
  const states = (one: Delivery) => statesIn(kit, one, created).join();
  const id = itemOf(first, "delivery_id");
  const isNext = (one: Delivery) =>
    (id !== undefined && itemOf(one, "delivery_id") === id) ||
    (isAbout(kit, one, created) && states(one) === states(first));
  const next = () => receiver.deliveries.find((one) => one.index > first.index && isNext(one));
  const isDone = await kit.watch(slowMs, async () => (first.isAbandoned ? true : next()));
  if (isDone === undefined)
    throw new NotOffered(
      `The sender still waits for an answer after ${slowMs} ms (timing.slow_ms of the target file), and may.`,
    );
  const waitedMs = Date.now() - started;
  const again = await kit.watch(kit.target.timing.retryMs, async () => next());
  if (again !== undefined) return;
  const wanted = `another attempt after notification ${first.index}, which was not answered until the sender had closed the connection, about ${waitedMs} ms later,`;
  failOverdue(kit, "retryMs", wanted, "none, although notifications that were refused were repeated");
}
