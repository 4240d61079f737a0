import type { Receipt } from "@bursar/domain";

/**
 * A network outside the service that takes several steps, like a chain: what is sent to it is pending, then in a block, and final some
 * blocks later; a reorganisation can take it out again. It outlives the service's processes, and is the truth that their books must
 * agree with in the end.
 */
export interface SteppingNetwork {
  /** Sending the same bytes again changes nothing. */
  send: (hash: string) => void;
  /** Asks for a payment to be replaced by its cancellation. The network may not obey. */
  requestCancel: (hash: string) => void;
  /** Some cancellation was requested that no block has dealt with. */
  hasCancelRequest: () => boolean;
  /** Somebody outside pays a wallet. */
  deposit: (transfer: NetworkDeposit["transfer"]) => string;
  /** The next block. */
  advance: () => void;
  statusOf: (hash: string) => NetworkStatus;
  deposits: () => readonly NetworkDeposit[];
  /** The hashes of all payments that were ever sent. */
  payments: () => readonly string[];
}

type NetworkStatus =
  | { kind: "unknown" }
  | { kind: "pending" }
  | { kind: "included"; receipt: Receipt }
  | { kind: "final"; outcome: NetworkOutcome; receipt: Receipt };

/** `lost`: a deposit that a reorganisation has taken out for good. */
type NetworkOutcome = "success" | "reverted" | "cancelled" | "lost";

interface NetworkDeposit {
  hash: string;
  transfer: { tenantId: string; walletId: string; asset: string; amount: bigint; fromAddress: string };
}

/** What the network will do with a payment or a deposit. */
export interface NetworkPlan {
  reorganisations: number;
  /** A payment that reverts costs its fee and moves nothing; a deposit that reverts is lost. */
  reverts: boolean;
  obeysCancel: boolean;
}

interface Entry {
  hash: string;
  plan: NetworkPlan;
  isDeposit: boolean;
  cancelRequested: boolean;
  status: NetworkStatus;
}

/** How many blocks later something is final. */
const confirmations = 2;

export function createSteppingNetwork(planOf: (hash: string) => NetworkPlan): SteppingNetwork {
  const entries = new Map<string, Entry>();
  const deposits: NetworkDeposit[] = [];
  let blockNumber = 0;
  let forks = 0;

  function add(hash: string, isDeposit: boolean): void {
    const status = { kind: "pending" } as const;
    entries.set(hash, { hash, plan: { ...planOf(hash) }, isDeposit, cancelRequested: false, status });
  }

  function receiptOf(hash: string): Receipt {
    return { hash, block: { number: blockNumber, hash: `0xb${blockNumber}f${forks}` } };
  }

  function advanceOne(entry: Entry): void {
    const { hash, plan, status } = entry;
    if (status.kind === "pending") {
      const receipt = receiptOf(hash);
      if (entry.cancelRequested && plan.obeysCancel)
        entry.status = { kind: "final", outcome: "cancelled", receipt };
      else if (entry.isDeposit && plan.reverts && plan.reorganisations === 0)
        entry.status = { kind: "final", outcome: "lost", receipt };
      else entry.status = { kind: "included", receipt };
      return;
    }
    if (status.kind !== "included") return;
    if (plan.reorganisations > 0) {
      plan.reorganisations -= 1;
      forks += 1;
      entry.status = { kind: "pending" };
    } else if (blockNumber - status.receipt.block.number >= confirmations) {
      const outcome = plan.reverts && !entry.isDeposit ? "reverted" : "success";
      entry.status = { kind: "final", outcome, receipt: status.receipt };
    }
  }

  return {
    send: (hash) => {
      if (!entries.has(hash)) add(hash, false);
    },
    requestCancel: (hash) => {
      const entry = entries.get(hash);
      if (entry !== undefined) entry.cancelRequested = true;
    },
    hasCancelRequest: () =>
      [...entries.values()].some(
        ({ cancelRequested, status }) => cancelRequested && status.kind === "pending",
      ),
    deposit: (transfer) => {
      const hash = `0xd${deposits.length}`;
      deposits.push({ hash, transfer });
      add(hash, true);
      return hash;
    },
    advance: () => {
      blockNumber += 1;
      for (const entry of entries.values()) advanceOne(entry);
    },
    statusOf: (hash) => entries.get(hash)?.status ?? { kind: "unknown" },
    deposits: () => deposits,
    payments: () => [...entries.values()].filter((entry) => !entry.isDeposit).map(({ hash }) => hash),
  };
}
