import type { Order } from "@bursar/client";
import { bursar } from "../../api/bursar";

const everyMs = 200;
/** A market that is halted deals with it later. The lists show it when it happens. */
const attemptsMax = 15;

/** Waits until the market has dealt with a request about an order, which was only accepted. Whether it was is no part of the request. */
export async function untilChanged(before: Order): Promise<void> {
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const now = await bursar.orders.get(before.id);
      if (now.version !== before.version) return;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  } catch {
    // The request was accepted all the same.
  }
}
