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

/** Payments of all tenants wait then, until their wallets are confirmed. */
export function createDoubtReporter(log: Pick<Logger, "error">, network: string): () => void {
  return () =>
    log.error(
      { network },
      "The signer has signed payments that the database does not know: it was restored from a backup. Payments on all networks wait until their wallets are compared with the signer. Run `bursar recover`, if nobody has since the restore.",
    );
}
