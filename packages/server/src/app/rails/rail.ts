import {
  type AssetAmount,
  type AssetRegistry,
  type DecidableTransaction,
  findExternalAccountCollision,
  type TransactionEvent,
  type TransactionKind,
} from "@bursar/domain";
import type { TransactionKey } from "../transactions/settlement.js";
import type { RailRecorder } from "./record-rail-events.js";

/** The states in which a rail is working on a transaction. From then on only the rail says what happens to it. */
const railStates = ["processing", "broadcast", "confirming"] as const;
export type RailState = (typeof railStates)[number];

/**
 * A way to move value on one network. The engine judges a transaction and holds its funds; what happens first on the network, which
 * addresses there are, and whether a payment can still be cancelled, is for the rail to say. A rail of several steps also has a
 * `RailDriver`.
 */
export interface Rail {
  network: string;
  /** What follows when a transaction may go ahead: it is settled at once, or its funds are held and the driver takes over. */
  firstEvent: Extract<TransactionEvent["kind"], "settle" | "begin">;
  /** Whether wallets can be used as soon as they are created. Otherwise the rail activates each one, when it has an address. */
  activatesWalletsAtOnce: boolean;
  /** Reads an address of this network. A rail without addresses has no such method. */
  readAddress?: (text: string) => ReadAddress;
  /** Why an address, in canonical form, must not be paid; undefined if it can be. `source` is the address that pays. */
  explainUnpayable?: (
    address: string,
    payment: { asset: string; source: string | null },
  ) => string | undefined;
  /**
   * Whether a cancellation of a transaction in this state is worth asking for. A request is only recorded: the funds stay held until
   * the driver records that the transaction was cancelled, or that it could not be.
   */
  mayCancel: (state: RailState) => boolean;
}

/** The canonical form, or what is wrong with it, as the end of a sentence that begins with "The address". */
type ReadAddress = { address: string } | { fault: string };

/** What a driver can record. The other events are the engine's. */
export type RailTransactionEvent = Extract<
  TransactionEvent,
  { kind: "reserve_fee" | "broadcast" | "include" | "finalise" | "reorganise" | "fail" | "cancel" }
>;

/**
 * Advances the transactions of one network after `begin`. It talks to the network, and then records what has happened; never the
 * other way round, and never both in one SQL transaction. Several processes may run it: what it records is refused if another one has
 * been faster. Only the record is protected: a driver whose network acts must not be repeated holds the network's lease
 * (`runtime/loops/lease.ts`), or sends something that the network itself takes once.
 */
export interface RailDriver {
  start: () => void;
  /** There is something new to do: a transaction has begun, or its cancellation was requested. */
  wake: () => void;
  stop: () => Promise<void>;
}

/** A transaction that a rail is working on, as its driver sees it. */
export interface RailTransaction extends TransactionKey {
  kind: TransactionKind;
  state: RailState;
  version: number;
  asset: string;
  amount: bigint;
  sourceAccountId: string;
  destinationAccountId: string;
  /** Where a payout goes; null for the other kinds. */
  destinationAddress: string | null;
  /** Its last hash on the network; null before it was broadcast. */
  hash: string | null;
  feeHold: AssetAmount | null;
  cancelRequested: boolean;
}

export interface RailTransactionStore {
  /** What is under way in these assets, oldest first, behind this id. */
  listOnRail: (
    assets: readonly string[],
    limit: number,
    afterId: string | undefined,
  ) => Promise<RailTransaction[]>;
}

/** A rail with its driver, if it has one. */
export interface RailPart {
  rail: Rail;
  createDriver?: (services: RailServices) => RailDriver;
}

/** What a driver works with. */
export interface RailServices extends RailTransactionStore, RailRecorder {
  assets: AssetRegistry;
  onError: (error: unknown) => void;
}

/** The rails of an installation, by their networks. */
export interface Rails {
  networks: ReadonlySet<string>;
  find: (network: string) => Rail | undefined;
  /** The rail of a network that something stored is on. */
  get: (network: string) => Rail;
  list: readonly Rail[];
}

export function createRails(list: readonly Rail[]): Rails {
  const byNetwork = new Map(list.map((rail) => [rail.network, rail]));
  if (byNetwork.size < list.length) throw new Error("two rails are for the same network");
  const collision = findExternalAccountCollision([...byNetwork.keys()]);
  if (collision !== undefined)
    throw new Error(`the networks ${collision.join(" and ")} would share an external account`);
  return {
    networks: new Set(byNetwork.keys()),
    find: (network) => byNetwork.get(network),
    get: (network) => {
      const rail = byNetwork.get(network);
      if (rail === undefined) throw new Error(`there is no rail for the network ${network}`);
      return rail;
    },
    list,
  };
}

export function isWithRail(state: DecidableTransaction["state"]): state is RailState {
  return (railStates as readonly string[]).includes(state);
}
