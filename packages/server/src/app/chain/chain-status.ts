import type { ChainNetwork } from "./chain-network.js";
import type { Signer } from "./signer.js";

/** What the process that drives a network has recorded about it last. */
export interface RecordedNetwork {
  network: string;
  /** `waiting`: no process holds its lease. `unreachable`: the one that does gets no block from any node. `stalled`: it has settled nothing for some time. */
  state: "waiting" | "unreachable" | "stalled" | "following" | "halted";
  /** Null in every other state. */
  unreachableSince: Date | null;
  /** Null if it is waiting or halted, or if what is final is settled. */
  stalledSince: Date | null;
  stalledReason: string | null;
  haltedReason: string | null;
  haltedAt: Date | null;
  headNumber: number;
  finalNumber: number;
  settledNumber: number;
  /** How many of its wallets are halted; 1000 if there are more. */
  haltedWallets: number;
  /** How often the signer has shown, with one of its wallets, a restore that nothing had noticed. */
  doubts: number;
  /** How many payments and deposits in settled blocks have a wallet that does not exist, of the first 1000 that are not settled. */
  unownedRows: number;
  /** In wei; null before the first block. */
  baseFee: bigint | null;
  /** When its last block was seen. */
  seenAt: Date | null;
}

/** What is shown of a network. */
export interface SeenHeads {
  headNumber: number;
  finalNumber: number;
  baseFee: bigint;
  seenAt: Date;
}

export interface NetworkStatus {
  network: ChainNetwork;
  /** Undefined until it was reached for the first time. */
  recorded: RecordedNetwork | undefined;
}

export interface ChainStatus {
  networks: readonly NetworkStatus[];
  signer: { isReady: boolean; reason: string | null };
}

export interface ChainStatusDeps {
  networks: readonly ChainNetwork[];
  readNetworks: (networks: readonly string[]) => Promise<RecordedNetwork[]>;
  signer: Pick<Signer, "health">;
  monotonicMs: () => number;
}

/** Probes, scrapes and requests that come within this time share one reading. */
const keptMs = 1000;

/** How the chains and the signer are doing. A signer that does not answer is a status; a database that does not, an error. */
export function createChainStatusReader(deps: ChainStatusDeps): () => Promise<ChainStatus> {
  let last: { atMs: number; reading: Promise<ChainStatus> } | undefined;

  async function read(): Promise<ChainStatus> {
    const [recorded, signer] = await Promise.all([
      deps.readNetworks(deps.networks.map(({ network }) => network)),
      deps.signer.health().catch(() => ({ isReady: false, reason: "does not answer" })),
    ]);
    const byName = new Map(recorded.map((one) => [one.network, one]));
    return {
      networks: deps.networks.map((network) => ({ network, recorded: byName.get(network.network) })),
      signer,
    };
  }

  return () => {
    const nowMs = deps.monotonicMs();
    if (last === undefined || nowMs - last.atMs >= keptMs) {
      const reading = read();
      last = { atMs: nowMs, reading };
      reading.catch(() => {
        last = undefined;
      });
    }
    return last.reading;
  };
}
