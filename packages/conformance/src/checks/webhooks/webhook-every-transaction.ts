import type { Kit } from "../../engine/kit.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { finalIn, isForPolicy, pathOf, readsOf, sentInRun } from "../every/run-transactions.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { createdInRun } from "../shown-members.js";
import { endpoint } from "./webhook-endpoint.js";
import { isAbout } from "./webhook-names.js";
import { announced } from "./webhook-scenarios.js";

interface Expected extends Pick<Accepted, "reference"> {
  readonly id: string;
  /** Of the exchange that has created it. */
  readonly index: number;
}

/** Shorter ones can be in a notification by chance. */
const tellingLength = 12;
/** Of those that nobody has read when they were final, some are. */
const askedMax = 10;

/** Transactions with a result that no notification is about, and how many were looked at. */
export async function unannounced(kit: Kit): Promise<{ missing: Expected[]; looked: number }> {
  const { receiver } = await endpoint(kit);
  const expected = await transactionsToAnnounce(kit);
  let missing = expected;
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
  return { missing, looked: expected.length };
}

const isOf = (kit: Kit, delivery: Delivery, { id, reference }: Expected) =>
  isAbout(kit, delivery, { id, reference } as Accepted);

const textOf = ({ headers, decoded }: Delivery) =>
  `${headers.map(([, value]) => value).join("\n")}\n${decoded.toString("utf8")}`;

/** Those that were accepted when the receiver was registered. One that is registered by hand is so from the beginning. */
async function transactionsToAnnounce(kit: Kit): Promise<Expected[]> {
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
