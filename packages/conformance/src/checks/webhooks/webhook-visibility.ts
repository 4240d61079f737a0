import { expect, fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import type { Delivery } from "../../webhooks/receiver.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { isFinal } from "../transaction-state.js";
import { isAbout } from "./webhook-names.js";
import { statesIn } from "./webhook-scenarios.js";

/** Whether GET shows a result when it is announced. */
export function expectVisible(kit: Kit, deliveries: readonly Delivery[], created: readonly Accepted[]): void {
  const late = deliveries.flatMap((one) => created.flatMap((transaction) => findLate(kit, one, transaction)));
  const [worst] = late.sort((one, other) => other.afterMs - one.afterMs);
  if (worst !== undefined) reportLate(kit, worst);
}

interface LateState {
  readonly delivery: Delivery;
  readonly state: string;
  readonly shown: string;
  /** Infinite if GET never showed it. */
  readonly afterMs: number;
}

/** The result that a notification announces, if GET does not show it when it arrives. */
function findLate(kit: Kit, delivery: Delivery, transaction: Accepted): LateState[] {
  if (!isAbout(kit, delivery, transaction)) return [];
  const states = statesIn(kit, delivery, transaction).filter((state) => isFinal(kit.target, state));
  const seen = delivery.seenStates.get(transaction.reference);
  if (states.length === 0 || seen === undefined || seen.visibleAfterMs === 0) return [];
  const afterMs = seen.visibleAfterMs ?? Number.POSITIVE_INFINITY;
  return [{ delivery, state: states.join(", "), shown: seen.first, afterMs }];
}

/**
 * The contract does not say how soon GET shows a change that is announced, so a delay is a failure only if the target file says so. A
 * result that GET never shows is one in any case.
 */
function reportLate(kit: Kit, { delivery, state, shown, afterMs }: LateState): void {
  const { timing, statedTiming } = kit.target;
  const isNever = afterMs === Number.POSITIVE_INFINITY;
  const since = isNever ? "and never showed it" : `and still did not show it ${Math.ceil(afterMs)} ms later`;
  const seen = `${shown} ${since}: notification ${delivery.index} was sent before the change was visible`;
  const bound = `within ${timing.visibleMs} ms (timing.visible_ms of the target file)`;
  if (isNever)
    fail(`GET to show ${state} when a notification with it arrives`, `GET showed ${seen}`, [delivery]);
  if (statedTiming.has("visibleMs"))
    expect(
      afterMs <= timing.visibleMs,
      `GET to show ${state} when a notification with it arrives, ${bound}`,
      `GET showed ${seen}`,
      [delivery],
    );
  else
    kit.warn(
      `GET showed ${seen}. The contract does not say how soon a change can be read; a receiver that reads the transaction at once sees the old state. If it can always be read by then, state timing.visible_ms: 0 in the target file.`,
    );
}
