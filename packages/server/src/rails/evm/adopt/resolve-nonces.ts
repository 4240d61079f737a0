import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { ChainUnit, FoundAttempt, Inclusion, StoredAttempt } from "../../../app/chain/chain-store.js";
import {
  type ForgottenPayment,
  type NonceEvidence,
  type TakenPayment,
  weighNonceUse,
} from "../../../app/chain/nonce-use.js";
import type { SignedNonce } from "../../../app/chain/signer.js";
import type { ComparedWallet } from "../../../app/chain/wallet-books.js";
import { operatorActorId } from "../../../app/events/actor.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import { inclusionsOf } from "../block/contents-of-block.js";
import { doubtInUnit } from "../confirm/doubt-wallets.js";
import {
  type DriverContext,
  type FollowedChain,
  inUnit,
  positionOf,
  type RecordInUnit,
  settledOf,
  tokensOf,
} from "../driver/driver-context.js";
import { intentOf } from "../driver/sign-payments.js";
import { hasUnknown, listSigned } from "./list-signed.js";
import { reclaimNonces } from "./reclaim-nonces.js";

/** How many payments are locked at once, and how many transactions of one wallet are looked for at a time. */
const listedMax = 256;
const searchedMax = 32;

/** How many more transactions the step may look for. */
export interface SearchBudget {
  left: number;
}

interface Evidence {
  /**
   * What the signer has bound to nonces that are not final in the database, or belong to a payment there that is in no block; also what it has only
   * said when it refused a payment.
   */
  signed: readonly SignedNonce[];
  ofPayments: ReadonlyMap<string, NonceEvidence>;
}

/**
 * Which transactions have used the nonces of payments that are in no block, as the nodes say, and of those that have no nonce in the database and
 * that the signer has bound to one: the lost bytes may be on the chain. Nothing of them is written. Undefined if more of them are to be looked for:
 * a day-old backup can have thousands, and the rest of the network does not wait. What is final stays so, and what was found is kept meanwhile.
 */
export async function gatherEvidence(
  context: DriverContext,
  chain: FollowedChain,
  { wallet, below, searches }: { wallet: ComparedWallet; below: number; searches: SearchBudget },
): Promise<Evidence | undefined> {
  const listed = await listSigned(context, chain, wallet, below);
  const taken: TakenPayment[] = await inUnit(context, positionOf(chain), async (unit) => {
    await unit.lockSenders([wallet]);
    const isUnknown = await hasUnknown(unit, wallet, listed);
    await reclaimNonces(context, unit, wallet, listed);
    if (isUnknown) await doubtInUnit(context, unit, [wallet]);
  }).then(() => inUnit(context, positionOf(chain), (unit) => unit.listTaken(wallet, below)));
  const isListed = new Set(listed.map(({ transactionId }) => transactionId));
  // Its journal may have been restored from a backup since.
  const bound = await inUnit(context, positionOf(chain), (unit) => unit.listBoundNonces([wallet]));
  const signed = [...listed, ...bound.filter(({ transactionId }) => !isListed.has(transactionId))];
  const used = usedOf(signed, below);
  for (let start = 0; start < used.length; start += listedMax) {
    const some = used.slice(start, start + listedMax);
    taken.push(...(await inUnit(context, positionOf(chain), (unit) => unit.listForgotten(wallet, some))));
  }
  const settled = settledOf(chain);
  const tokens = tokensOf(context.network);
  const evidenceOf = chain.evidence.get(wallet.walletId) ?? {
    found: new Map<string, NonceEvidence>(),
    left: 0,
  };
  chain.evidence.set(wallet.walletId, evidenceOf);
  const { found: known } = evidenceOf;
  const nameOf = ({ id, nonce, attempt }: TakenPayment) => `${id} ${nonce} ${attempt}`;
  const unknown = taken.filter((payment) => !known.has(nameOf(payment)));
  evidenceOf.left = unknown.length;
  const some = unknown.slice(0, Math.min(searchedMax, searches.left));
  // Receipts of what is stored need no state of past blocks.
  const hashes = some.flatMap((payment) => payment.hashes);
  const included =
    hashes.length === 0 ? [] : await context.node.findIncluded(hashes, settled, tokens, chain.keepLease);
  for (const payment of some) {
    searches.left -= 1;
    // One search can outlast the lease.
    const shown = included.find(({ outcome }) => payment.hashes.includes(outcome.hash));
    const use =
      shown === undefined
        ? await context.node.findNonceUse(payment, settled, tokens, chain.keepLease)
        : { ...shown, signed: null };
    const [found] = use === undefined ? [] : await findKnown(context, chain, use.outcome.hash);
    const weighed = weighNonceUse(payment, use, found, (purpose, { bytes, terms }) => {
      try {
        return (
          context.verifySigned(intentOf(context, { ...payment, ...terms, purpose }), bytes) ===
          use?.outcome.hash
        );
      } catch {
        return false;
      }
    });
    known.set(nameOf(payment), weighed);
    evidenceOf.left -= 1;
  }
  if (unknown.length > some.length) return undefined;
  const ofPayments = taken.flatMap((payment) => {
    const evidence = known.get(nameOf(payment));
    return evidence === undefined ? [] : [[payment.id, evidence] as const];
  });
  // What no node shows now is looked for again when the nonce is stated again.
  for (const [name, { kind }] of known) if (kind === "unseen") known.delete(name);
  return { signed, ofPayments: new Map(ofPayments) };
}

function usedOf(signed: readonly SignedNonce[], below: number): SignedNonce[] {
  return signed.filter(({ nonce }) => nonce < below);
}

function findKnown(context: DriverContext, chain: FollowedChain, hash: string): Promise<FoundAttempt[]> {
  return inUnit(context, positionOf(chain), (unit) => unit.findAttempts([hash]));
}

/**
 * Ends what can never be included, and puts what was paid into the block that has paid it: the next settled block ends it. Returns the payments
 * that cannot be decided. They stay as they are, and so do the nonces of the wallet. Then nothing at all is written if a payment has no nonce here,
 * or another than the signer has bound it to: what ends raises the final nonce, and the signer would not be asked about lower ones again.
 */
export async function resolveNonces(
  context: DriverContext,
  chain: FollowedChain,
  { unit, record }: { unit: ChainUnit; record: RecordInUnit },
  { wallet, finalNonce, evidence }: { wallet: ComparedWallet; finalNonce: number; evidence: Evidence },
): Promise<UnresolvedPayment[]> {
  const { ofPayments } = evidence;
  const taken = await unit.listTaken(wallet, finalNonce);
  const forgotten = await unit.listForgotten(wallet, usedOf(evidence.signed, finalNonce));
  // In one order: some are cancelled, others are recorded, and clients cancel several at once.
  await unit.lockOpen([...taken, ...forgotten]);
  const bound = new Map(evidence.signed.map(({ transactionId, nonce }) => [transactionId, nonce]));
  const displaced = taken.flatMap((payment): UnresolvedPayment[] => {
    const signedNonce = bound.get(payment.id) ?? payment.nonce;
    return signedNonce === payment.nonce ? [] : [{ ...payment, doubt: { signedNonce } }];
  });
  const isUnseen = ({ id }: TakenPayment) => (ofPayments.get(id)?.kind ?? "unseen") === "unseen";
  const unresolved = [
    ...forgotten.filter(isPaidBeside).map((payment): UnresolvedPayment => ({ ...payment, doubt: "paid" })),
    ...displaced,
    ...[...taken, ...forgotten]
      .filter(isUnseen)
      .map((payment): UnresolvedPayment => ({ ...payment, doubt: "unseen" })),
  ];
  if (unresolved.length > 0 && forgotten.length + displaced.length > 0) return unresolved;
  const failed = taken.filter(({ id }) => ofPayments.get(id)?.kind === "other");
  const recovered = taken.flatMap((payment) => recover(context, payment, ofPayments.get(payment.id)));
  const found = forgotten
    .filter(({ isOccupied, isBegun }) => !isOccupied && isBegun)
    .flatMap((payment) => recover(context, payment, ofPayments.get(payment.id)));
  // The signer signs them with no other nonce: each would get one that it refuses, and the wallet could not go on.
  const unpayable = forgotten.filter(canNeverBePaid);
  const cancelled = unpayable.filter(({ isBegun }) => isBegun);
  // The engine cancels these when the wallet goes on.
  for (const payment of unpayable.filter(({ isBegun }) => !isBegun))
    await unit.requestCancel(payment, operatorActorId);
  const failure = { kind: "fail", failure: "NONCE_TAKEN", fee: null } as const;
  const cancel = { kind: "cancel", fee: null } as const;
  const reserved = found.map((one) => reserveFee(context, one));
  const events: RailEvent[] = [
    ...reserved,
    ...failed.map(({ tenantId, id }) => ({ tenantId, id, event: failure })),
    ...cancelled.map(({ tenantId, id }) => ({ tenantId, id, event: cancel })),
    ...[...recovered, ...found].flatMap((one) => one.events),
  ];
  if (events.length > 0) {
    const { outcomes } = await record({ events });
    assertReserved(reserved, outcomes);
  }
  unit.endPayments([...failed, ...cancelled.map((payment) => ({ ...payment, nonce: null }))]);
  const now = new Date(context.recorder.now());
  unit.assign(
    found.flatMap(({ payment, attempt }) =>
      attempt === undefined ? [] : { ...payment, terms: attempt.terms },
    ),
    chain.headNumber,
    now,
  );
  const attempts = [...recovered, ...found].flatMap(({ attempt }) => attempt ?? []);
  unit.setTerms(attempts, chain.headNumber);
  unit.storeAttempts(attempts, chain.headNumber, now);
  unit.includePayments([...recovered, ...found].map(({ inclusion }) => inclusion));
  if (unresolved.length === 0) unit.adoptNonce(wallet, finalNonce);
  return unresolved;

  /** It was made, and has not begun, or another payment has its nonce in the database. It cannot be recorded, and must not end. */
  function isPaidBeside({ id, isOccupied, isBegun }: ForgottenPayment): boolean {
    const known = ofPayments.get(id);
    return (isOccupied || !isBegun) && known?.kind === "ours" && known.purpose !== "cancellation";
  }

  /** Another transaction was seen with its nonce, or an empty one of its own that cannot be recorded. */
  function canNeverBePaid({ id, isOccupied, isBegun }: ForgottenPayment): boolean {
    const known = ofPayments.get(id);
    if (known?.kind === "other") return true;
    return (isOccupied || !isBegun) && known?.kind === "ours" && known.purpose === "cancellation";
  }
}

export interface UnresolvedPayment extends TakenPayment {
  /**
   * `unseen`: no node shows what has used the nonce. `paid`: its bytes have. Otherwise the signer has signed it with another nonce than the
   * database has given it, so that the use of the one here says nothing about it.
   */
  doubt: "unseen" | "paid" | { signedNonce: number };
}

/** It had no nonce, so nothing is held for its fee, which the chain has charged. The amount of a payment that was not made covers it. */
function reserveFee({ network: { coin } }: DriverContext, recovered: Recovered): RailEvent {
  const { payment, inclusion, isPayment } = recovered;
  const { tenantId, id, asset } = payment;
  const covered = isPayment || asset !== coin ? 0n : payment.amount;
  const amount = inclusion.fee > covered ? inclusion.fee - covered : 0n;
  return { tenantId, id, event: { kind: "reserve_fee", fee: { asset: coin, amount } } };
}

/** Nothing is written then, and the statement of the operator is tried again. */
function assertReserved(reserved: readonly RailEvent[], outcomes: readonly string[]): void {
  const short = reserved.find((_, index) => outcomes[index] === "insufficient");
  if (short === undefined) return;
  throw new NodeUnavailableError(
    `the fee of ${shownPaymentId(short.id)}, which the chain has charged, is not available in the books of its wallet: send coins to it`,
  );
}

interface Recovered {
  payment: TakenPayment;
  events: RailEvent[];
  inclusion: Inclusion;
  /** Whether it was made, and not an empty transaction. */
  isPayment: boolean;
  /** The attempt, if the books do not have it. */
  attempt: StoredAttempt | undefined;
}

/** What is written about a payment that one of its attempts has made. */
export function recover(
  { network }: DriverContext,
  payment: TakenPayment,
  evidence: NonceEvidence | undefined,
): Recovered[] {
  if (evidence?.kind !== "ours") return [];
  const { tenantId, id, attempt, isBroadcast } = payment;
  const { use, purpose, forgotten } = evidence;
  const { outcome, block } = use;
  const { hash } = outcome;
  const found: FoundAttempt = { ...payment, hash, purpose, stage: "signed" };
  const [inclusion] = inclusionsOf(network, { ...block, outcomes: [outcome] }, [found]);
  if (inclusion === undefined) return [];
  const isPayment = purpose !== "cancellation";
  const events: RailEvent[] = isPayment
    ? [{ tenantId, id, event: { kind: "include", receipt: { hash, block } } }]
    : [];
  if (isPayment && !isBroadcast) events.unshift({ tenantId, id, event: { kind: "broadcast", hash } });
  const stored =
    forgotten === null
      ? undefined
      : {
          ...{ tenantId, id, number: attempt + 1, hash, bytes: forgotten.bytes },
          terms: { ...forgotten.terms, purpose, dataFee: 0n },
        };
  return [{ payment, events, inclusion, isPayment, attempt: stored }];
}
