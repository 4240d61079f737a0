import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { BlockRef, ChainNode, ChainToken, Watch } from "../../../app/chain/chain-node.js";
import type {
  ChainPosition,
  ChainStore,
  ChainUnit,
  FollowedBlock,
  NetworkLease,
  WalletKey,
} from "../../../app/chain/chain-store.js";
import { type HaltCode, haltOfNetwork, haltOfWallet } from "../../../app/chain/halt.js";
import type { NonceEvidence } from "../../../app/chain/nonce-use.js";
import type { Signer, SigningIntent } from "../../../app/chain/signer.js";
import {
  PaymentFaultError,
  type RailEvent,
  type RailRecords,
  type RecordRailEventsDeps,
  recordOnRail,
} from "../../../app/rails/record-rail-events.js";
import type { BranchLinks } from "./follow/branch-links.js";

/** What the steps of the driver work with. */
export interface DriverContext {
  network: ChainNetwork;
  node: ChainNode;
  signer: Pick<Signer, "sign" | "signedFrom">;
  store: ChainStore;
  recorder: Pick<RecordRailEventsDeps, "assets" | "newUuid" | "now" | "onChanged">;
  /** Returns the hash of signed bytes; throws if they are not exactly what the intent says. */
  verifySigned: (intent: SigningIntent, bytes: string) => string;
  /** Whether an error means that the database cannot do its work: then no row is at fault. */
  isUnavailable: (error: unknown) => boolean;
  /** Called each time that payments of a wallet wait for something that the operator can do, such as to send coins. */
  onShort: (shortage: Shortage) => void;
  /** Called when the signer has shown a restore that nothing had noticed: all wallets are compared with it before any of their payments ends. */
  onDoubted: () => void;
}

/** Following waits for nodes that can be slow, so it looks at the time. */
export interface FollowContext extends DriverContext {
  monotonicMs: () => number;
}

export interface Shortage {
  walletId: string;
  /** Of the payment, or of the wallet. */
  id: string;
  reason: string;
}

/** Of one wallet, by payment, and how many more are to be looked for, as far as is known. */
interface FoundEvidence {
  found: Map<string, NonceEvidence>;
  left: number;
}

/** What a driver that holds the lease of its network has in memory. It is dropped after every error and read again. */
export interface FollowedChain {
  lease: NetworkLease;
  /** The settled block and those above it, in order. */
  tail: FollowedBlock[];
  /**
   * The last block that was followed, and that two nodes have, for the pace of what is sent again or replaced. A head that was not followed is what
   * one node claims, and it can also make up the blocks below it.
   */
  headNumber: number;
  /**
   * The last block that was followed before this lease was acquired or an error ended what was in memory, or that has something which could not be
   * written and that no second node had confirmed.
   */
  inheritedTo: number;
  /** Blocks that two nodes have, and of which something could not be written: they are not compared with what they have. */
  confirmedFaults: Set<number>;
  /** How often nodes had misread a block when they were last asked. */
  misreads: number | undefined;
  /** How many blocks ahead of the last one that was followed a walk begins: as many as nodes give in the time of one. */
  aheadInTime: number;
  /** What was read of branches that were not followed. */
  links: BranchLinks;
  /** The last followed block that has something of ours, or may have it. */
  activeTo: number;
  /** What nodes have said about nonces of wallets that are being adopted, by wallet: they are asked about some in each step. */
  evidence: Map<string, FoundEvidence>;
  /** Renews the lease if it is due, between parts of a long step. */
  keepLease: () => Promise<void>;
}

export function tipOf({ tail }: FollowedChain): FollowedBlock {
  const tip = tail.at(-1);
  if (tip === undefined) throw new Error("a chain that is followed has at least its settled block");
  return tip;
}

export function settledOf({ tail }: FollowedChain): FollowedBlock {
  const [settled] = tail;
  if (settled === undefined) throw new Error("a chain that is followed has at least its settled block");
  return settled;
}

/** The block with this number, if it is the settled one or was followed above it. */
export function followedAt({ tail }: FollowedChain, number: number): FollowedBlock | undefined {
  return tail[number - (tail[0]?.number ?? 0)];
}

export function isFollowed(chain: FollowedChain, { number, hash }: BlockRef): boolean {
  return followedAt(chain, number)?.hash === hash;
}

export type RecordInUnit = (records: Partial<RailRecords>) => ReturnType<typeof recordOnRail>;

/**
 * One SQL transaction under the lease. `record` may be called once, after everything that is locked and before everything that is only
 * written. The driver alone decides what happens to a transaction on its network, so an event that does not follow is a fault, unless faults
 * are tolerated: then it is left out, and the outcomes show it.
 */
export async function inUnit<T>(
  { store, recorder, onDoubted, network: { network } }: DriverContext,
  position: ChainPosition,
  work: (unit: ChainUnit, record: RecordInUnit) => Promise<T>,
  isTolerant = false,
): Promise<T> {
  let changed: string[] = [];
  let isDoubted = false;
  const result = await store.unitOfWork(position, (unit) => {
    isDoubted = false;
    const doubtWallets: ChainUnit["doubtWallets"] = async (...given) => {
      const isNew = await unit.doubtWallets(...given);
      isDoubted ||= isNew;
      return isNew;
    };
    return work({ ...unit, doubtWallets }, async ({ events = [], deposits = [] }) => {
      const recorded = await recordOnRail(recorder, unit, network, { events, deposits });
      const [wrong] = faultsOf(events, recorded.outcomes);
      if (wrong !== undefined && !isTolerant) throw new PaymentFaultError(wrong.fault);
      if (recorded.depositIds.includes(undefined))
        throw new PaymentFaultError("a deposit has a transaction that it does not know of");
      changed = [...events.map(({ id }) => id), ...recorded.depositIds.filter((id) => id !== undefined)];
      return recorded;
    });
  });
  if (isDoubted) onDoubted();
  if (changed.length > 0) recorder.onChanged(changed);
  return result;
}

/** The events that do not follow, each with a sentence without its full stop. */
export function faultsOf<Event extends RailEvent>(
  events: readonly Event[],
  outcomes: Awaited<ReturnType<typeof recordOnRail>>["outcomes"],
): { event: Event; fault: string }[] {
  return events.flatMap((event, index) => {
    const outcome = outcomes[index];
    if (outcome !== "stale" && outcome !== "impossible") return [];
    return [{ event, fault: `${event.event.kind} of the transaction ${event.id} is ${outcome}` }];
  });
}

export function positionOf(chain: FollowedChain): ChainPosition {
  return { lease: chain.lease, tipHash: chain.tail.at(-1)?.hash };
}

/** The coin and the tokens of a network. */
export function tokensOf({ coin, tokens }: ChainNetwork): ChainToken[] {
  return [{ asset: coin, contract: null }, ...tokens.map(({ asset, contract }) => ({ asset, contract }))];
}

export function contractOf(network: ChainNetwork, asset: string): string | null {
  const token = tokensOf(network).find((one) => one.asset === asset);
  if (token === undefined) throw new Error(`the asset ${asset} is not on the network ${network.network}`);
  return token.contract;
}

export function watchOf({ network, store }: DriverContext): Watch {
  return {
    tokens: tokensOf(network),
    findOwned: (addresses) => store.findOwned(network.network, addresses),
    findAttempts: (hashes) => store.findAttempts(network.network, hashes),
  };
}

/** The network is halted. Nothing goes on until the operator resumes it. */
export class NetworkHaltedError extends Error {}

export async function haltNetwork(
  context: DriverContext,
  position: ChainPosition,
  code: HaltCode,
  reason: string,
): Promise<never> {
  const { network } = context.network;
  const halt = haltOfNetwork(network, code, reason, new Date(context.recorder.now()));
  await inUnit(context, position, (unit) => unit.haltNetwork(halt));
  throw new NetworkHaltedError(`${network} is halted: ${reason}`);
}

/** Returns whether there is such a wallet. */
export async function haltWallet(
  context: DriverContext,
  chain: FollowedChain,
  wallet: WalletKey,
  code: HaltCode,
  reason: string,
  statedNonce: number | null = null,
): Promise<boolean> {
  const given = { wallet, code, reason, statedNonce };
  return await inUnit(context, positionOf(chain), (unit) => haltInUnit(context, unit, given));
}

/**
 * Halts a wallet that was seen not to be halted. What was found to adopt it is of an earlier halt, also if no comparison has seen it resumed
 * in between.
 */
export async function haltRunning(
  context: DriverContext,
  chain: FollowedChain,
  wallet: WalletKey,
  code: HaltCode,
  reason: string,
): Promise<void> {
  await haltWallet(context, chain, wallet, code, reason);
  chain.evidence.delete(wallet.walletId);
}

/** Halts a wallet together with what the unit of work writes. Returns whether there is such a wallet. */
export async function haltInUnit(
  { recorder }: DriverContext,
  unit: ChainUnit,
  {
    wallet,
    code,
    reason,
    statedNonce,
  }: { wallet: WalletKey; code: HaltCode; reason: string; statedNonce: number | null },
): Promise<boolean> {
  const halt = haltOfWallet(wallet, code, reason, new Date(recorder.now()));
  return await unit.haltWallet(wallet, halt, statedNonce);
}
