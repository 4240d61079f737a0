import type { ChainUnit, FoundAttempt, Inclusion, StoredAttempt } from "../../../app/chain/chain-store.js";
import { type NonceEvidence, type TakenPayment, weighNonceUse } from "../../../app/chain/nonce-use.js";
import type { ComparedWallet } from "../../../app/chain/wallet-books.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import { inclusionsOf } from "../block/contents-of-block.js";
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

type Evidence = ReadonlyMap<string, NonceEvidence>;

/** Which transactions have used the nonces of payments that are in no block, as the nodes say. Nothing is written. */
export async function gatherEvidence(
  context: DriverContext,
  chain: FollowedChain,
  wallet: ComparedWallet,
  below: number,
): Promise<Evidence> {
  const taken = await inUnit(context, positionOf(chain), (unit) => unit.listTaken(wallet, below));
  const settled = settledOf(chain);
  const tokens = tokensOf(context.network);
  const evidence = new Map<string, NonceEvidence>();
  for (const payment of taken) {
    // One search can outlast the lease.
    const use = await context.node.findNonceUse(payment, settled, tokens, chain.keepLease);
    const [known] = use === undefined ? [] : await findKnown(context, chain, use.outcome.hash);
    const weighed = weighNonceUse(payment, use, known, (purpose, { bytes, terms }) => {
      try {
        return (
          context.verifySigned(intentOf(context, { ...payment, ...terms, purpose }), bytes) ===
          use?.outcome.hash
        );
      } catch {
        return false;
      }
    });
    evidence.set(payment.id, weighed);
  }
  return evidence;
}

function findKnown(context: DriverContext, chain: FollowedChain, hash: string): Promise<FoundAttempt[]> {
  return inUnit(context, positionOf(chain), (unit) => unit.findAttempts([hash]));
}

/**
 * Ends what can never be included, and puts what was paid into the block that has paid it: the next settled block ends it. Returns the payments
 * that nothing is known about. They stay as they are, and so do the nonces of the wallet.
 */
export async function resolveNonces(
  context: DriverContext,
  chain: FollowedChain,
  { unit, record }: { unit: ChainUnit; record: RecordInUnit },
  { wallet, finalNonce, evidence }: { wallet: ComparedWallet; finalNonce: number; evidence: Evidence },
): Promise<TakenPayment[]> {
  const taken = await unit.listTaken(wallet, finalNonce);
  const unseen = taken.filter(({ id }) => (evidence.get(id)?.kind ?? "unseen") === "unseen");
  const failed = taken.filter(({ id }) => evidence.get(id)?.kind === "other");
  const recovered = taken.flatMap((payment) => recover(context, payment, evidence.get(payment.id)));
  const failure = { kind: "fail", failure: "NONCE_TAKEN", fee: null } as const;
  const events: RailEvent[] = [
    ...failed.map(({ tenantId, id }) => ({ tenantId, id, event: failure })),
    ...recovered.flatMap((one) => one.events),
  ];
  if (events.length > 0) await record({ events });
  unit.endPayments(failed);
  const forgotten = recovered.flatMap(({ attempt }) => attempt ?? []);
  unit.setTerms(forgotten, chain.headNumber);
  unit.storeAttempts(forgotten, chain.headNumber, new Date(context.recorder.now()));
  unit.includePayments(recovered.map(({ inclusion }) => inclusion));
  if (unseen.length === 0) unit.adoptNonce(wallet, finalNonce);
  return unseen;
}

interface Recovered {
  events: RailEvent[];
  inclusion: Inclusion;
  /** The attempt, if the books do not have it. */
  attempt: StoredAttempt | undefined;
}

function recover(
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
  return [{ events, inclusion, attempt: stored }];
}
