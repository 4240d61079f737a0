import { showId } from "@bursar/protocol";
import type { Logger } from "pino";
import type { Shortage } from "../../rails/evm/driver/driver-context.js";

/** How many payments are remembered as reported. */
const rememberedMax = 1000;

/** The driver asks again in each step; each payment is reported once. */
export function createShortageReporter(
  log: Pick<Logger, "warn">,
  network: string,
): (shortage: Shortage) => void {
  const reported = new Set<string>();
  return ({ walletId, id, reason }) => {
    if (reported.has(id)) return;
    if (reported.size >= rememberedMax) reported.clear();
    reported.add(id);
    log.warn(
      { network, wallet_id: showId("wlt", walletId), reason },
      "Payments of a wallet wait for something that the operator can do.",
    );
  };
}
