import type { Kit } from "../engine/kit.js";
import { itemOf } from "../webhooks/delivery-items.js";
import type { Delivery, Receiver } from "../webhooks/receiver.js";
import { acceptTransaction, repeat } from "./keys/key-scenarios.js";
import { isAbout } from "./webhooks/webhook-names.js";
import type { Announced } from "./webhooks/webhook-scenarios.js";

/**
 * A repetition that is carried out has the reference of the first request. If notifications show no ids, only their number
 * shows that there are two transactions. How many belong to one is open, so it is counted for those that were not repeated, and what
 * looks like two is tried once more, beside one that is not repeated.
 */
export interface CountedTwice {
  readonly reference: string;
  readonly usual: number;
  readonly own: readonly Delivery[];
}

export async function findCarriedOut(
  kit: Kit,
  receiver: Receiver,
  before: Announced,
): Promise<CountedTwice | undefined> {
  const usual = usualNumber(kit, before);
  if (usual === undefined) return undefined;
  let found: CountedTwice | undefined;
  for (const isRepeated of [true, false, true]) {
    const counted = await count(kit, receiver, before, { isRepeated, usual });
    if (counted.own.length !== (isRepeated ? 2 * usual : usual)) return undefined;
    if (isRepeated) found = { ...counted, usual };
  }
  return found;
}

/** How many notifications a transaction has; undefined if their number differs. */
function usualNumber(kit: Kit, { deliveries, created }: Announced): number | undefined {
  const numbers = created.map((one) => distinct(deliveries.filter((each) => isAbout(kit, each, one))).length);
  const [first = 0] = numbers;
  return first > 0 && numbers.every((one) => one === first) ? first : undefined;
}

/** A transaction, perhaps with a repetition, and all that is announced about it. */
async function count(
  kit: Kit,
  receiver: Receiver,
  { isUpdate }: Announced,
  { isRepeated, usual }: { isRepeated: boolean; usual: number },
) {
  const { webhookMs, quietMs } = kit.target.timing;
  const start = receiver.deliveries.length;
  const accepted = await acceptTransaction(kit);
  if (isRepeated) await repeat(kit, accepted);
  const own = () =>
    distinct(receiver.deliveries.slice(start).filter((one) => isUpdate(one) && isAbout(kit, one, accepted)));
  await kit.watch(webhookMs, async () => own()[usual - 1]);
  await kit.watch(webhookMs, async () => {
    const before = own().length;
    await kit.sleep(quietMs);
    return own().length === before ? true : undefined;
  });
  return { reference: accepted.reference, own: own() };
}

/** One of each delivery_id: an attempt that is repeated is the same notification. */
function distinct(deliveries: readonly Delivery[]): Delivery[] {
  const byId = new Map(deliveries.map((one) => [itemOf(one, "delivery_id") ?? String(one.index), one]));
  return [...byId.values()];
}
