import { isolateFailingRows } from "../../runtime/concurrency/isolate-failing-rows.js";
import type { Timers } from "../../runtime/loops/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../../runtime/loops/waking-loop.js";
import { highestNonce, type Signer, SignerUnavailableError } from "./signer.js";

/** A wallet of a chain that has no address yet. */
interface CreatingWallet {
  tenantId: string;
  id: string;
  network: string;
}

interface AddressedWallet extends CreatingWallet {
  /** In lower case. */
  address: string;
  /** With its checksum, as it is shown. */
  shown: string;
}

export interface ChainWalletActivation {
  /** Wallets of these networks that are due to get an address, the same number of each tenant. */
  listCreating: (networks: readonly string[], limit: number, now: Date) => Promise<CreatingWallet[]>;
  /**
   * Gives them their addresses and makes them active, with their events. Those that another process has made active are left out, and those
   * of tenants in whose rows something else holds a lock.
   */
  activate: (wallets: readonly AddressedWallet[], occurredAt: Date) => Promise<number>;
  /** Records on the row that it failed, and when it is tried next. */
  recordFailure: (wallet: CreatingWallet, error: unknown, now: Date) => Promise<void>;
  /** How many wallets have an address, on all networks. */
  countAddressed: () => Promise<number>;
  /** The newest wallet of each of these tenants that has an address. */
  listNewest: (tenantIds: readonly string[]) => Promise<CreatingWallet[]>;
}

export interface ActivateWalletsDeps {
  /** The networks that are followed. A deposit to an address from before would not be noticed. */
  listFollowed: () => Promise<readonly string[]>;
  store: ChainWalletActivation;
  signer: Pick<Signer, "addressesOf" | "signedFrom" | "countWallets">;
  /** The form with a checksum; throws if it is no address. */
  showAddress: (address: string) => string;
  /** Whether the signer or the database is unavailable: then no wallet is at fault. */
  isUnavailable: (error: unknown) => boolean;
  onFailure: (wallet: CreatingWallet, error: unknown) => void;
  onError: (error: unknown) => void;
  now: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 100;
/** New wallets wake the loop; this is for those of a notification that was lost, and for retries. */
const lookEveryMs = 5000;
const pauseAfterErrorMs = 1000;
/** Longer than any process needs to store addresses that it got of an earlier run of the signer. */
const countedForMs = 60_000;

/**
 * Gives new wallets of chains the addresses that the signer derives for them, and makes them active. While the signer is unavailable, or
 * their network was never reached, they stay as they are, and nothing is recorded: it is no fault of theirs.
 */
export function createWalletActivator(deps: ActivateWalletsDeps): WakingLoop {
  const { listFollowed, store, signer, showAddress, isUnavailable, now } = deps;
  /** The run of the signer in which all wallets are counted or were, since when, and the most wallets that it had. */
  let run: { id: string; sinceMs: number; count: number } | undefined;

  async function activate(wallets: readonly CreatingWallet[]): Promise<number> {
    const addresses = await signer.addressesOf(
      wallets.map(({ tenantId, id, network }) => ({ tenantId, walletId: id, network })),
    );
    const addressed = wallets.map((wallet, index) => {
      const address = addresses[index];
      if (address === undefined) throw new Error("the signer has returned fewer addresses than wallets");
      return { ...wallet, address: address.toLowerCase(), shown: showAddress(address) };
    });
    return await store.activate(addressed, new Date(now()));
  }

  /**
   * A signer whose journal was restored from an earlier backup has forgotten the last wallets, and would give their keys to new ones. The forgotten
   * wallets could never be signed for again, because an address belongs to one wallet. A signer forgets only between two runs, and what any process
   * gets of this run it remembers, so all wallets are counted only when a run is new to this process.
   */
  async function assertRemembers(creating: readonly CreatingWallet[]): Promise<void> {
    if (!(await isRemembering())) await assertCounts();
    const newest = await store.listNewest([...new Set(creating.map(({ tenantId }) => tenantId))]);
    const answers = await signer.signedFrom(
      // Whether it knows a wallet matters here, and not what it has signed for it.
      newest.map(({ tenantId, id, network }) => ({ tenantId, walletId: id, network, nonce: highestNonce })),
    );
    const unknown = answers.find((answer) => "refused" in answer && answer.refused === "WALLET_UNKNOWN");
    if (unknown !== undefined && "reason" in unknown) throw forgotten(unknown.reason);
  }

  /** Whether the signer is in a run that was found to know all wallets, long enough after it began. */
  async function isRemembering(): Promise<boolean> {
    const { count, runId } = await signer.countWallets();
    if (run === undefined || run.id !== runId || count < run.count) {
      run = undefined;
      return false;
    }
    run.count = count;
    return now() - run.sinceMs >= countedForMs;
  }

  /** The signer is asked last, because it has every wallet before the database has its address. */
  async function assertCounts(): Promise<void> {
    const addressed = await store.countAddressed();
    const { count, runId } = await signer.countWallets();
    if (addressed > count) {
      run = undefined;
      throw forgotten(`it has ${count}, and ${addressed} have addresses.`);
    }
    if (runId === undefined) run = undefined;
    else if (run?.id !== runId) run = { id: runId, sinceMs: now(), count };
  }

  async function step(): Promise<Rest> {
    const creating = await store.listCreating(await listFollowed(), batchMax, new Date(now()));
    if (creating.length === 0) return { pauseMs: lookEveryMs };
    await assertRemembers(creating);
    const activated = await isolateFailingRows(creating, activate, {
      isUnavailable,
      onFailure: async (wallet, error) => {
        deps.onFailure(wallet, error);
        await store.recordFailure(wallet, error, new Date(now()));
      },
    });
    // Those that are left may be of a tenant in whose rows something holds a lock.
    return activated.some((count) => count > 0) ? undefined : { pauseMs: pauseAfterErrorMs };
  }

  return createWakingLoop({ step, onError: deps.onError, pauseAfterErrorMs, timers: deps.timers });
}

function forgotten(fact: string): SignerUnavailableError {
  return new SignerUnavailableError(
    `The signer does not know all wallets: ${fact} Its journal was restored from an earlier backup, or it is another signer. New wallets get no addresses until it does. Restore the newest journal, or stop the service and run \`bursar-signer adopt\`. A signer of another seed cannot learn them: a new seed needs a new database.`,
  );
}
