import type { ChainUnit, WalletKey } from "../../../app/chain/chain-store.js";
import type { RailEvent, RailRecords } from "../../../app/rails/record-rail-events.js";
import {
  type DriverContext,
  type FollowedChain,
  faultsOf,
  haltWallet,
  inUnit,
  positionOf,
} from "./driver-context.js";
import { isFaultOfRows, paymentAtFault } from "./isolate-wallets.js";

/** An event, and the wallet that is halted if it does not follow. */
export type WalletEvent = RailEvent & WalletKey;

export type RecordFacts = (records: {
  events: readonly WalletEvent[];
  deposits: RailRecords["deposits"];
}) => Promise<readonly (string | undefined)[]>;

/**
 * Writes what the chain has done. It is a fact even if a transaction cannot follow it, and the blocks of the network must not wait for that:
 * the transaction stays as it is, and its wallet is to be halted when the caller knows the new blocks. `record` returns the ids of the
 * deposits. The work is called again with `isTolerant` if its first try has failed.
 */
export async function writeFacts<Result>(
  context: DriverContext,
  chain: FollowedChain,
  work: (unit: ChainUnit, record: RecordFacts, isTolerant: boolean) => Promise<Result>,
): Promise<{ result: Result; haltAtFault: () => Promise<void> }> {
  const faults = new Map<string, { wallet: WalletKey; fault: string }>();
  const attempt = (isTolerant: boolean) =>
    inUnit(
      context,
      positionOf(chain),
      (unit, record) => {
        faults.clear();
        return work(
          unit,
          async ({ events, deposits }) => {
            const { outcomes, depositIds } = await record({ events, deposits });
            for (const { event, fault } of faultsOf(events, outcomes))
              faults.set(event.walletId, { wallet: event, fault });
            return depositIds;
          },
          isTolerant,
        );
      },
      isTolerant,
    );
  const result = await attempt(false).catch((error: unknown) => {
    if (!isFaultOfRows(error)) throw error;
    return attempt(true);
  });
  const { code, reason } = paymentAtFault;
  const haltAtFault = async () => {
    for (const { wallet, fault } of faults.values())
      await haltWallet(context, chain, wallet, code, `${reason}: ${fault}.`);
  };
  return { result, haltAtFault };
}
