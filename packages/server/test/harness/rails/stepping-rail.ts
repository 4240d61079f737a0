import type { Asset } from "@bursar/domain";
import type {
  Rail,
  RailDriver,
  RailPart,
  RailServices,
  RailTransaction,
  RailTransactionEvent,
} from "../../../src/app/rails/rail.js";
import type { RailEvent } from "../../../src/app/rails/record-rail-events.js";
import type { Timers } from "../../../src/runtime/loops/timers.js";
import { createWakingLoop } from "../../../src/runtime/loops/waking-loop.js";
import type { SteppingNetwork } from "./stepping-network.js";

const network = "test:steps";
const limits = { minimum: 1n, maximum: 10n ** 30n };

/** What moves on the network, and what its fees are paid in. */
export const steppingAssets: readonly Asset[] = [
  { code: "STEP", caip19: null, decimals: 2, network, ...limits },
  { code: "GAS", caip19: null, decimals: 0, network, ...limits },
];

/** What a payment holds for its fee, and what the network charges in the end. */
const feeHeld = 7n;
export const feeCharged = 5n;

export const steppingRail: Rail = {
  network,
  firstEvent: "begin",
  activatesWalletsAtOnce: true,
  readAddress: (text) =>
    /^step1[a-z]{1,20}$/i.test(text) ? { address: text.toLowerCase() } : { fault: "is malformed" },
  mayCancel: (state) => state !== "confirming",
};

export interface SteppingDriverOptions {
  network: SteppingNetwork;
  timers: Pick<Timers, "after">;
  lookEveryMs?: number;
  /** What a call to the network costs; it never happens within an SQL transaction. */
  reachNetwork?: () => Promise<void>;
  /** Called with errors of the driver; left out, those go where all errors of rails go. */
  onError?: (error: unknown) => void;
}

export function createSteppingRail(options: SteppingDriverOptions): RailPart {
  return { rail: steppingRail, createDriver: (services) => createSteppingDriver(services, options) };
}

const batchMax = 100;

/** A driver of several steps: reads what is under way, asks the network, and records what has happened. */
export function createSteppingDriver(services: RailServices, options: SteppingDriverOptions): RailDriver {
  const { network: chain, timers, lookEveryMs = 25, reachNetwork = async () => undefined } = options;
  const codes = steppingAssets.map(({ code }) => code);

  async function step() {
    await recordDeposits();
    const open = await services.listOnRail(codes, batchMax, undefined);
    if (open.length > 0) await reachNetwork();
    const events = open.flatMap((transaction): RailEvent[] => {
      const { tenantId, id, version } = transaction;
      const event = nextEvent(chain, transaction);
      return event === undefined ? [] : [{ tenantId, id, version, event }];
    });
    const outcomes = await services.recordEvents(network, events);
    if (outcomes.includes("impossible")) throw new Error("the driver recorded an impossible event");
    const unpaid = events.filter((_, index) => outcomes[index] === "insufficient");
    const failure = { kind: "fail", failure: "INSUFFICIENT_FEE_FUNDS", fee: null } as const;
    await services.recordEvents(
      network,
      unpaid.map((event) => ({ ...event, event: failure })),
    );
    return { pauseMs: lookEveryMs };
  }

  /** Every time all that are in a block: what was recorded before is not recorded again. */
  async function recordDeposits(): Promise<void> {
    const seen = chain.deposits().flatMap(({ hash, transfer }) => {
      const status = chain.statusOf(hash);
      return "receipt" in status && (status.kind !== "final" || status.outcome !== "lost")
        ? [{ ...transfer, receipt: status.receipt, ordinal: 0 }]
        : [];
    });
    await services.recordDeposits(network, seen);
  }

  return createWakingLoop({
    step,
    onError: options.onError ?? services.onError,
    pauseAfterErrorMs: lookEveryMs,
    timers,
  });
}

/** The bytes of a payment are a function of it, so that signing again after a crash gives the same hash. */
function hashOf({ id }: RailTransaction): string {
  return `0x${id.replaceAll("-", "")}`;
}

function nextEvent(chain: SteppingNetwork, transaction: RailTransaction): RailTransactionEvent | undefined {
  switch (transaction.state) {
    case "processing":
      if (transaction.cancelRequested) return { kind: "cancel", fee: null };
      if (transaction.feeHold === null)
        return { kind: "reserve_fee", fee: { asset: "GAS", amount: feeHeld } };
      // The hash is recorded before the bytes are sent: whatever becomes of this process, they are known.
      return { kind: "broadcast", hash: hashOf(transaction) };
    case "broadcast":
      return transaction.kind === "deposit"
        ? followDeposit(chain, transaction)
        : followPayment(chain, transaction);
    case "confirming":
      return confirm(chain, transaction);
  }
}

const fee = { asset: "GAS", amount: feeCharged };

function followPayment(
  chain: SteppingNetwork,
  transaction: RailTransaction,
): RailTransactionEvent | undefined {
  const hash = hashOf(transaction);
  chain.send(hash);
  if (transaction.cancelRequested) chain.requestCancel(hash);
  const status = chain.statusOf(hash);
  if (status.kind === "final" && status.outcome === "cancelled") return { kind: "cancel", fee };
  return "receipt" in status ? { kind: "include", receipt: status.receipt } : undefined;
}

/** After a reorganisation: it comes back in another block, or never. */
function followDeposit(chain: SteppingNetwork, { hash }: RailTransaction): RailTransactionEvent | undefined {
  const status = chain.statusOf(hash ?? "");
  if (status.kind === "final" && status.outcome === "lost")
    return { kind: "fail", failure: "DEPOSIT_REORGANISED", fee: null };
  return "receipt" in status ? { kind: "include", receipt: status.receipt } : undefined;
}

/** Nothing is final before the network says so. */
function confirm(chain: SteppingNetwork, { hash, kind }: RailTransaction): RailTransactionEvent | undefined {
  const status = chain.statusOf(hash ?? "");
  if (status.kind === "included") return undefined;
  if (status.kind !== "final") return { kind: "reorganise" };
  switch (status.outcome) {
    case "success":
      return { kind: "finalise", fee: kind === "deposit" ? null : fee };
    case "reverted":
      return { kind: "fail", failure: "EXECUTION_REVERTED", fee };
    case "cancelled":
    case "lost":
      return { kind: "reorganise" };
  }
}
