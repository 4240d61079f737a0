import type { Kit } from "../../engine/kit.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { finalIn, isForPolicy, pathOf, readsOf, sentInRun } from "../every/run-transactions.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { createdInRun } from "../shown-members.js";
import { endpoint } from "./webhook-endpoint.js";
import { nameIds } from "./webhook-every-result.js";
import { isAbout, tellingLength } from "./webhook-names.js";
import { announced, statesIn } from "./webhook-scenarios.js";

interface Expected extends Pick<Accepted, "reference"> {
  readonly id: string;
  /** Of the exchange that has created it. */
  readonly index: number;
}

/** Of those that nobody has read when they were final, some are. */
const askedMax = 10;

interface Unannounced {
  /** Transactions with a result that no notification is about. */
  readonly missing: readonly Expected[];
  /** Those whose notifications all have a state, and none a result. */
  readonly withoutResult: readonly Expected[];
  /** How many were looked at. */
  readonly looked: number;
}

/** Transactions with a result that notifications do not announce. */
export async function unannounced(kit: Kit): Promise<Unannounced> {
  const { receiver } = await endpoint(kit);
  const expected = await transactionsToAnnounce(kit);
  let missing: readonly Expected[] = expected;
  let seen = 0;
  const look = async () => {
    const fresh = receiver.deliveries.slice(seen);
    seen += fresh.length;
    const texts = fresh.map(textOf).join("\n");
    // Nearly all are found by their id as it is, which is quicker than to look at each value of each notification.
    const isNamed = ({ id }: Expected) => id.length >= tellingLength && texts.includes(id);
    missing = missing.filter((one) => !isNamed(one) && !fresh.some((delivery) => isOf(kit, delivery, one)));
    return missing.length === 0 ? true : undefined;
  };
  await kit.watch(kit.target.timing.webhookMs, look);
  const withoutResult = missing.length === 0 ? await findWithoutResult(kit, expected) : [];
  return { missing, withoutResult, looked: expected.length };
}

/**
 * Only if the target file says where notifications have the state. A notification without a state can be the one of the result, and ids tell
 * best which transaction one is about. If it does not say how long they take, a target that announces no result may do so.
 */
async function findWithoutResult(kit: Kit, expected: readonly Expected[]): Promise<readonly Expected[]> {
  const { target } = kit;
  const { receiver } = await endpoint(kit);
  const { created, deliveries, isUpdate } = await announced(kit);
  if (target.webhooks?.state === undefined || !nameIds(kit, { created, deliveries })) return [];
  const states = new Map<string, string[][]>();
  let open = expected;
  let seen = 0;
  await kit.watch(target.timing.webhookMs, async () => {
    const fresh = receiver.deliveries.slice(seen);
    seen += fresh.length;
    for (const delivery of fresh.filter(isUpdate)) {
      const text = textOf(delivery);
      for (const { id } of open) {
        const as = { id, reference: id } as Accepted;
        if ((id.length >= tellingLength && !text.includes(id)) || !isAbout(kit, delivery, as)) continue;
        states.set(id, [...(states.get(id) ?? []), statesIn(kit, delivery, as)]);
      }
    }
    const isResult = (state: string) => target.finalStates.includes(state);
    const isOpen = ({ id }: Expected) =>
      (states.get(id) ?? []).every((some) => some.length > 0 && !some.some(isResult));
    open = open.filter(isOpen);
    return open.length === 0 ? true : undefined;
  });
  return target.statedTiming.has("webhookMs") || open.length < expected.length ? open : [];
}

const isOf = (kit: Kit, delivery: Delivery, { id, reference }: Expected) =>
  isAbout(kit, delivery, { id, reference } as Accepted);

const textOf = ({ headers, decoded }: Delivery) =>
  `${headers.map(([, value]) => value).join("\n")}\n${decoded.toString("utf8")}`;

/** Those that were accepted when the receiver was registered. One that is registered by hand is so from the beginning. */
async function transactionsToAnnounce(kit: Kit): Promise<readonly Expected[]> {
  const { created, deliveries } = await announced(kit);
  const { webhooks } = await endpoint(kit);
  const isFromStart = webhooks.register === undefined && webhooks.challenge === undefined;
  const start = isFromStart ? 0 : Math.min(...created.map(({ reply }) => reply.exchange.index));
  const own = new Set(sentInRun(kit).map(({ id }) => id));
  const haveIds = created.some(
    ({ id }) => id !== undefined && deliveries.some((one) => isOf(kit, one, { id, reference: id, index: 0 })),
  );
  const shown = new Set<string>();
  const expected: Expected[] = [];
  let asked = 0;
  for (const { id, reference = "", index } of createdInRun(kit)) {
    const exchange = kit.session.exchanges[index];
    if (id === undefined || shown.has(id)) continue;
    // A repetition shows it again, and is no reason to announce it.
    shown.add(id);
    if (!own.has(id) || index < start) continue;
    if (exchange === undefined || isForPolicy(kit, exchange)) continue;
    // How a notification writes an unusual reference is open.
    if (!haveIds && !/^[\w-]{1,64}$/.test(reference)) continue;
    const isFinal = () => readsOf(kit, id).some((reply) => finalIn(kit, reply) !== undefined);
    if (!isFinal() && asked < askedMax) {
      asked += 1;
      await kit.send("GET", pathOf(id)).catch(() => undefined);
    }
    if (isFinal()) expected.push({ id, reference, index });
  }
  return expected;
}
