import { CheckFailed } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { partsAbout } from "../../webhooks/batches.js";
import { contentOf, itemOf } from "../../webhooks/delivery-items.js";
import { type Delivery, type Receiver, unanswered } from "../../webhooks/receiver.js";
import { type Accepted, acceptTransaction } from "../keys/key-scenarios.js";
import { failOverdue } from "../scenarios.js";
import { endpoint } from "./webhook-endpoint.js";
import { isAbout, nameOf, namesOf } from "./webhook-names.js";
import { type Announced, allStatesIn, announced, hold, isTelling } from "./webhook-scenarios.js";

/** A notification that was refused, and what repeats it. */
interface Repeated {
  /** The notification that was answered with 500. */
  readonly first: Delivery;
  /** The next one with its delivery_id. */
  readonly second: Delivery | undefined;
  /** If there is none: a later one with the same content and another delivery_id, or none. */
  readonly renamed: Delivery | undefined;
  /** If there is neither: a later one that is about other transactions too, and says the same of this one. */
  readonly regrouped: Delivery | undefined;
}

/** A notification about a transaction of its own, and the status that it was answered with. */
interface TurnedAway {
  readonly status: number;
  readonly first: Delivery;
}

/** A redirect without an address that a sender could follow, a quota, and a connection that is closed without an answer. */
const turnedAwayWith = [302, 429, unanswered] as const;

export interface Retried extends Repeated {
  /** The notification with the result, if it was not answered either and nothing has repeated it. */
  readonly unrepeated: Delivery | undefined;
  /** The notification about another transaction that was answered with 503, if nothing has repeated it. */
  readonly unrepeatedWhenBusy: Delivery | undefined;
  /** The same for those that were answered with 302 and 429, and for one that was not answered. */
  readonly unrepeatedWhenTurnedAway: readonly TurnedAway[];
  /** That notification, and its next attempt, if that was refused too. */
  readonly busy: Delivery | undefined;
  readonly again: Delivery | undefined;
  /** Waits for the attempt after that one. */
  readonly repeatOfAgain: (kit: Kit, again: Delivery, waitMs: number) => Promise<Repeated>;
}

const retriedFixture = "retried notification";

/**
 * A transaction whose first notification is answered with 500. The connection of the one that announces its result is closed without an
 * answer, as a receiver does that ends: a job that retries may drop what is about a transaction that has ended, or what has no answer.
 */
export const retried = (kit: Kit): Promise<Retried> =>
  kit.fixture(retriedFixture, async (own) => {
    const { receiver } = await endpoint(own);
    const { timing } = own.target;
    const before = await announced(own);
    const start = receiver.deliveries.length;
    const after = () => receiver.deliveries.slice(start);
    const refusal = refuseSome(own, receiver, before);
    const repeatOf = (refused: Delivery, waitMs = timing.retryMs, its = own) =>
      awaitRepeat(its, before, refused, { after, refusal, waitMs });
    try {
      await refusal.creation;
      const first =
        (await own.watch(timing.webhookMs, async () => refusal.refused[0])) ??
        refuseReused(receiver.deliveries, refusal.reused()) ??
        failOverdue(own, "webhookMs", `a notification about ${refusal.name()}`, "none", "webhook.each");
      const repeated = await repeatOf(first);
      const haveResults = before.deliveries.some((one) => resultsIn(own, one, before.created).length > 0);
      const isNext = isRepeated(repeated) && haveResults && !refusal.hasResult(first);
      const result = isNext
        ? await own.watch(timing.webhookMs, async () => refusal.refused.find(refusal.hasResult))
        : undefined;
      const isLost = result !== undefined && !isRepeated(await repeatOf(result));
      // One after the other is sent by some, so those of other transactions may come later, or not at all.
      if (isRepeated(repeated) && before.isAttributed)
        await own.watch(timing.quietMs, async () => refusal.busy() && refusal.areTurnedAway());
      const busy = isRepeated(repeated) ? refusal.busy() : undefined;
      const turned = isRepeated(repeated) ? refusal.turnedAway() : [];
      // At the same time, so that it takes no longer if none of them is repeated.
      const repeats = await Promise.all(turned.map(({ first }) => repeatOf(first)));
      const unrepeatedWhenTurnedAway = turned.filter((_, at) => repeats[at] && !isRepeated(repeats[at]));
      const isBusyLost = busy !== undefined && !isRepeated(await repeatOf(busy));
      return {
        ...repeated,
        unrepeated: isLost ? result : undefined,
        unrepeatedWhenBusy: isBusyLost ? busy : undefined,
        unrepeatedWhenTurnedAway,
        busy,
        again: refusal.again(),
        repeatOfAgain: (its, again, waitMs) => repeatOf(again, waitMs, its),
      };
    } finally {
      refusal.end();
      own.attach(after());
    }
  });

/** So many times the pause before the second attempt, a third one is waited for. When it comes, and whether it does, is open. */
const thirdPauses = 3;

/** What follows a second attempt that was refused too; undefined if none was. Nothing is waited for that has had its time during the run. */
export const thirdAttempt = (kit: Kit): Promise<Repeated | undefined> =>
  kit.fixture("third attempt", async (own) => {
    // Without the checks of retries, nothing was refused; and what is wrong with the first two attempts is their concern.
    const isRefused = own.session.fixtures.has(retriedFixture);
    const before = isRefused ? await retried(own).catch(() => undefined) : undefined;
    if (before?.again === undefined || before.busy === undefined) return undefined;
    const { again, busy, repeatOfAgain } = before;
    const { retryMs, quietMs } = own.target.timing;
    const refusedAt = again.receivedAt.getTime();
    const pauseMs = refusedAt - busy.receivedAt.getTime();
    const waitMs = Math.min(retryMs, Math.max(quietMs, thirdPauses * pauseMs));
    return repeatOfAgain(own, again, Math.max(0, refusedAt + waitMs - Date.now()));
  });

/** A third attempt that has another delivery_id than the second is a notification that a receiver handles once more. */
export function refuseRenamed(again: Delivery, renamed: Delivery): never {
  const id = itemOf(renamed, "delivery_id");
  const under = id === undefined ? "without a delivery_id" : `under the delivery_id ${id}`;
  throw new CheckFailed(
    `the delivery_id ${itemOf(again, "delivery_id")} of notification ${again.index}, which was not the first attempt, at the next one too`,
    `the same content ${under} (notification ${renamed.index})`,
    "webhook.delivery-id.every",
    [again, renamed],
  );
}

export const isRepeated = ({ second, renamed, regrouped }: Repeated) =>
  second !== undefined || renamed !== undefined || regrouped !== undefined;

/** A notification that is not noticed because of its delivery_id has one that an earlier one had. */
function refuseReused(all: readonly Delivery[], reused: Delivery | undefined): undefined {
  const id = reused === undefined ? undefined : itemOf(reused, "delivery_id");
  const first = all.find((one) => id !== undefined && itemOf(one, "delivery_id") === id);
  if (reused === undefined || first === undefined) return undefined;
  throw new CheckFailed(
    "a delivery_id of its own for each notification",
    `${id} for two transactions, in notifications ${first.index} and ${reused.index}; a receiver ignores the second`,
    "webhook.delivery-id.unique",
    [first, reused],
  );
}

export const isSameContent = (one: Delivery, other: Delivery) =>
  contentOf(one, itemOf(one, "delivery_id")) === contentOf(other, itemOf(other, "delivery_id"));

interface Waiting {
  readonly after: () => readonly Delivery[];
  readonly refusal: ReturnType<typeof refuseSome>;
  readonly waitMs: number;
}

/** Waits for the next attempt after one that was refused. */
async function awaitRepeat(
  kit: Kit,
  before: Announced,
  first: Delivery,
  { after, refusal, waitMs }: Waiting,
): Promise<Repeated> {
  const id = itemOf(first, "delivery_id");
  const following = () => after().filter((one) => one.index > first.index);
  const later = () => following().filter(before.isUpdate);
  const isSame = (one: Delivery) => isSameContent(one, first);
  const second = await kit.watch(waitMs, async () =>
    // One under another event is still the next attempt, and its event the concern of another check.
    id === undefined ? later().find(isSame) : following().find((one) => itemOf(one, "delivery_id") === id),
  );
  const canRename = second === undefined && id !== undefined && isTelling(before);
  const renamed = canRename ? later().find(isSame) : undefined;
  const isMissing = second === undefined && renamed === undefined;
  const regrouped = isMissing ? later().find((one) => refusal.saysTheSame(first, one)) : undefined;
  return { first, second, renamed, regrouped };
}

const resultsIn = (kit: Kit, delivery: Delivery, created: readonly Accepted[]) =>
  allStatesIn(kit, delivery, created).filter((state) => kit.target.finalStates.includes(state));

/**
 * Creates a transaction, answers its first notification with 500 and the first with its result not at all; and another one, whose first
 * notification is answered with 503 at about the same time, so that nobody waits longer for it, and one each with the statuses that turn it
 * away. All others are answered with 204 at once.
 * If the sender goes on with one while another one waits, the second attempt after the 503 is refused too: its third attempt, which can be
 * late, then holds up nothing.
 */
function refuseSome(kit: Kit, receiver: Receiver, before: Announced) {
  const seen = new Set(receiver.deliveries.map((one) => itemOf(one, "delivery_id")));
  seen.delete(undefined);
  const start = receiver.deliveries.length;
  let third: Accepted | undefined;
  const refused: Delivery[] = [];
  let fourth: Accepted | undefined;
  let busy: Delivery | undefined;
  const turned: { status: number; about: Accepted; first: Delivery | undefined }[] = [];
  let again: Delivery | undefined;
  let isParallel = false;
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const creation = (async () => {
    third = await acceptTransaction(kit);
    if (!before.isAttributed) return;
    fourth = await acceptTransaction(kit);
    for (const status of turnedAwayWith)
      turned.push({ status, about: await acceptTransaction(kit), first: undefined });
  })();
  const isOf = (delivery: Delivery, one: Accepted | undefined) =>
    one !== undefined && isAbout(kit, delivery, one);
  const remember = (delivery: Delivery) => {
    const id = itemOf(delivery, "delivery_id");
    if (id !== undefined) seen.add(id);
  };
  const hasResult = (delivery: Delivery) =>
    third !== undefined && resultsIn(kit, delivery, [third]).length > 0;
  const isAttemptOf = (first: Delivery | undefined, delivery: Delivery) => {
    const id = first === undefined ? undefined : itemOf(first, "delivery_id");
    return id !== undefined && itemOf(delivery, "delivery_id") === id;
  };
  /** Whether a notification was refused, and has not arrived again. */
  const isWaiting = (first: Delivery | undefined) =>
    first !== undefined &&
    !receiver.deliveries.some((one) => one.index > first.index && isAttemptOf(first, one));
  receiver.answerWith(async (delivery) => {
    const isRefusedAgain = isParallel && !isOver && again === undefined && isAttemptOf(busy, delivery);
    if (isRefusedAgain) {
      again = delivery;
      return 503;
    }
    const isOther = () =>
      seen.has(itemOf(delivery, "delivery_id")) ||
      (refused.length > 0 && (refused.some(hasResult) || !hasResult(delivery)));
    const isAll = busy !== undefined && areTurnedAway();
    const isDone = isOther() && (isAll || seen.has(itemOf(delivery, "delivery_id")));
    if (isDone || !before.isUpdate(delivery)) return 204;
    await hold(kit, creation);
    // A sender that waits with others until one is accepted is not refused again.
    if (!isOver && busy === undefined && isOf(delivery, fourth) && !isOf(delivery, third)) {
      busy = delivery;
      isParallel ||= isWaiting(refused[0]);
      remember(delivery);
      return 503;
    }
    const isOfOthers = isOf(delivery, third) || isOf(delivery, fourth);
    const [turn, ...more] = isOfOthers ? [] : turned.filter(({ about }) => isOf(delivery, about));
    if (!isOver && turn !== undefined && turn.first === undefined && more.length === 0) {
      turn.first = delivery;
      remember(delivery);
      return turn.status;
    }
    const isMeant = third !== undefined && (!before.isAttributed || isAbout(kit, delivery, third));
    if (isOther() || !isMeant) return 204;
    isParallel ||= isWaiting(busy);
    refused.push(delivery);
    remember(delivery);
    return refused.length > 1 ? unanswered : 500;
  });
  const areTurnedAway = () =>
    turned.length === turnedAwayWith.length && turned.every(({ first }) => first !== undefined)
      ? true
      : undefined;
  /** Whether another notification has the items of a list that a refused one had. */
  const saysTheSame = (first: Delivery, delivery: Delivery) => {
    const names = [third, fourth, ...turned.map(({ about }) => about)].flatMap((one) =>
      one !== undefined && isOf(first, one) ? namesOf(one) : [],
    );
    const partsOf = (one: Delivery) => partsAbout(one.json, names).filter((part) => part !== one.json);
    const had = partsOf(first).map((part) => JSON.stringify(part));
    const has = new Set(partsOf(delivery).map((part) => JSON.stringify(part)));
    return had.length > 0 && had.every((part) => has.has(part));
  };
  const name = () => (third === undefined ? "a transaction" : nameOf(third));
  /** A notification about the transaction under a delivery_id that was known before it was created. */
  const reused = () =>
    receiver.deliveries.slice(start).find((one) => third !== undefined && isAbout(kit, one, third));
  return {
    creation,
    end,
    name,
    refused,
    busy: () => busy,
    areTurnedAway,
    turnedAway: () =>
      turned.flatMap(({ status, first }): TurnedAway[] => (first === undefined ? [] : [{ status, first }])),
    again: () => again,
    hasResult,
    saysTheSame,
    reused,
  };
}
