import type { ChainUnit, WalletKey } from "../../../app/chain/chain-store.js";
import type { RailEvent, RailRecords } from "../../../app/rails/record-rail-events.js";
import { isolateFailingRows } from "../../../runtime/concurrency/isolate-failing-rows.js";
import {
  type DriverContext,
  type FollowedChain,
  faultsOf,
  haltWallet,
  inUnit,
  positionOf,
} from "./driver-context.js";
import { isFaultOfRows, messageOf, paymentAtFault } from "./isolate-wallets.js";

/** An event, and the wallet that is halted if it does not follow. */
export type WalletEvent = RailEvent & WalletKey;

type RecordFacts = (records: {
  events: readonly WalletEvent[];
  deposits: RailRecords["deposits"];
}) => Promise<readonly (string | undefined)[]>;

/** One try to write facts. */
export interface FactsUnit {
  unit: ChainUnit;
  /** Returns the ids of the deposits. */
  record: RecordFacts;
  /** Returns those whose facts are to be written. Everything that belongs to a wallet goes through it. */
  keep: <Fact extends WalletKey>(facts: readonly Fact[]) => Fact[];
  /** Whether a try before has failed. */
  isTolerant: boolean;
}

interface Fault {
  wallet: WalletKey;
  fault: string;
}

/** Ends a try whose outcome alone matters. */
class Probed extends Error {}

/**
 * Writes what the chain has done. It is a fact even if a transaction cannot follow it, and the blocks of the network must not wait for that. If
 * the first try fails, events that do not follow are left out: their transactions stay as they are. If that fails too, the wallets at fault are
 * found by tries that are rolled back, and nothing of them is written: a comparison with the chain will show it. In both cases the wallet is
 * to be halted when the caller knows the new blocks, if they are what the chain has.
 */
export async function writeFacts<Result>(
  context: DriverContext,
  chain: FollowedChain,
  work: (facts: FactsUnit) => Promise<Result>,
): Promise<{ result: Result; hasFault: boolean; haltAtFault: () => Promise<void> }> {
  const faults = new Map<string, Fault>();
  const known = new Map<string, WalletKey>();
  const attempt = (isTolerant: boolean, isKept: (walletId: string) => boolean, isProbe = false) =>
    inUnit(
      context,
      positionOf(chain),
      async (unit, recordInUnit) => {
        faults.clear();
        const record: RecordFacts = async ({ events, deposits }) => {
          const { outcomes, depositIds } = await recordInUnit({ events, deposits });
          for (const { event, fault } of faultsOf(events, outcomes))
            faults.set(event.walletId, { wallet: event, fault });
          return depositIds;
        };
        const keep: FactsUnit["keep"] = (facts) => {
          for (const { tenantId, walletId } of facts) known.set(walletId, { tenantId, walletId });
          return facts.filter(({ walletId }) => isKept(walletId));
        };
        const result = await work({ unit, record, keep, isTolerant });
        if (isProbe) throw new Probed();
        return result;
      },
      isTolerant,
    );
  const rethrowOthers = (error: unknown) => {
    if (!isFaultOfRows(context, error)) throw error;
  };
  /** Tries the wallets without the others. */
  const probe = async (some: readonly WalletKey[]) => {
    await chain.keepLease();
    const ids = new Set(some.map(({ walletId }) => walletId));
    await attempt(true, (walletId) => ids.has(walletId), true).catch((error: unknown) => {
      if (!(error instanceof Probed)) throw error;
    });
  };
  const leaveOut = async () => {
    const left = new Map<string, Fault>();
    await isolateFailingRows([...known.values()], probe, {
      isUnavailable: (error) => !isFaultOfRows(context, error),
      onFailure: (wallet, error) => void left.set(wallet.walletId, { wallet, fault: messageOf(error) }),
      failuresMax: Number.POSITIVE_INFINITY,
    });
    const writeOthers = () => attempt(true, (walletId) => !left.has(walletId));
    const result = await writeOthers().catch(async (error: unknown) => {
      rethrowOthers(error);
      await leaveOutTogether(left);
      return await writeOthers();
    });
    for (const [walletId, fault] of left) faults.set(walletId, fault);
    return result;
  };
  /** Wallets that can be written alone, and not together: they share an account, which can hold no more. */
  const leaveOutTogether = async (left: Map<string, Fault>) => {
    const kept: WalletKey[] = [];
    for (const wallet of [...known.values()].filter(({ walletId }) => !left.has(walletId))) {
      try {
        await probe([...kept, wallet]);
        kept.push(wallet);
      } catch (error) {
        rethrowOthers(error);
        left.set(wallet.walletId, { wallet, fault: messageOf(error) });
      }
    }
  };
  const all = () => true;
  const result = await attempt(false, all)
    .catch((error: unknown) => {
      rethrowOthers(error);
      return attempt(true, all);
    })
    .catch((error: unknown) => {
      rethrowOthers(error);
      return leaveOut();
    });
  const { code, reason } = paymentAtFault;
  const haltAtFault = async () => {
    for (const { wallet, fault } of faults.values())
      await haltWallet(context, chain, wallet, code, `${reason}: ${fault}.`);
  };
  return { result, hasFault: faults.size > 0, haltAtFault };
}
