import { type AccountKey, decideOnBalances, externalAccountId } from "@bursar/domain";
import type { ChainUnit } from "../../../app/chain/chain-store.js";
import type { HaltCode } from "../../../app/chain/halt.js";
import type {
  ComparedWallet,
  GatheredAmount,
  NewLoss,
  WalletBooks,
} from "../../../app/chain/wallet-books.js";
import { operatorActorId } from "../../../app/events/actor.js";
import { hashRequest } from "../../../app/requests/idempotency.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import type { ClaimedTransaction } from "../../../app/transactions/settlement.js";
import { compareAll, isUsedElsewhere, type WalletOnChain } from "../driver/comparison/compare-books.js";
import {
  type DriverContext,
  type FollowedChain,
  haltWallet,
  inUnit,
  positionOf,
  settledOf,
} from "../driver/driver-context.js";
import {
  gatherEvidence,
  resolveNonces,
  type SearchBudget,
  type UnresolvedPayment,
} from "./resolve-nonces.js";

/** Nobody knows where it went. */
const unknownAddress = `0x${"0".repeat(40)}`;

/**
 * The operator has stated how many transactions of a halted wallet are final, and the chain says the same, so the books follow the chain. First
 * the nonces: payments whose nonce another transaction has used can never be sent, and fail; those whose own attempt has used it are paid. Then,
 * when the nonces agree and what was paid is settled, the money: what is missing beyond what was gathered is recorded as a payout, and the wallet
 * goes on. Each is one SQL transaction, which compares again. Returns false if more transactions are to be looked for first.
 */
export async function acceptChain(
  context: DriverContext,
  chain: FollowedChain,
  { onChain: seen, ...wallet }: ComparedWallet & { onChain: WalletOnChain },
  searches: SearchBudget,
): Promise<boolean> {
  const evidence = await gatherEvidence(context, chain, { wallet, below: seen.nonce, searches });
  if (evidence === undefined) return false;
  const lost: string[] = [];
  const reason = await inUnit(
    context,
    positionOf(chain),
    async (unit, record): Promise<HaltAgain | undefined> => {
      await unit.lockSenders([wallet]);
      const books = await unit.readBooks([wallet]);
      const [book] = books;
      if (book === undefined || book.statedNonce !== seen.nonce) return undefined;
      if (isUsedElsewhere(book, seen)) {
        const resolved = { wallet, finalNonce: seen.nonce, evidence };
        const [unresolved] = await resolveNonces(context, chain, { unit, record }, resolved);
        return unresolved === undefined ? undefined : describeUnresolved(unresolved);
      }
      const { shortfalls } = compareAll(context, [wallet], books, [seen]);
      const beyond = shortfalls.map((shortfall) => beyondGathered(book, shortfall));
      const losses = beyond
        .filter(({ amount }) => amount > 0n)
        .map((shortfall) => lossOf(context, chain, shortfall));
      const uncovered = await recordLosses(context, unit, losses);
      if (uncovered !== undefined) return describeUncovered(uncovered);
      unit.setGathered(beyond.map((one) => ({ ...one, amount: one.amount < 0n ? -one.amount : 0n })));
      lost.push(...losses.map(({ id }) => id));
      unit.resumeWallet(wallet);
      return undefined;
    },
  );
  if (lost.length > 0) context.recorder.onChanged(lost);
  // What was found stays until it is decided, also if an SQL transaction fails: each search reads a whole block.
  if (reason === undefined) chain.evidence.delete(wallet.walletId);
  else await haltWallet(context, chain, wallet, reason.code, reason.reason, seen.nonce);
  return true;
}

/** What was gathered is not in the ledger, so it is missing first. Negative if some of it is left. */
function beyondGathered({ balances }: WalletBooks, shortfall: GatheredAmount): GatheredAmount {
  const gathered = balances.get(shortfall.asset)?.gathered ?? 0n;
  return { ...shortfall, amount: shortfall.amount - gathered };
}

interface HaltAgain {
  code: HaltCode;
  reason: string;
}

function describeUnresolved({ id, nonce, amount, asset, doubt }: UnresolvedPayment): HaltAgain {
  const code = "NONCE_USED_ELSEWHERE";
  if (doubt === "paid")
    return {
      code,
      reason: `${shownPaymentId(id)} was paid with nonce ${nonce}, and the books cannot record it yet: it has not begun there, or another payment has the nonce. If it has not begun, send ${amount} base units of ${asset} to the wallet, and state the nonce again when it is \`processing\`.`,
    };
  if (doubt === "unseen")
    return {
      code,
      reason: `No node shows which transaction has used nonce ${nonce}, so ${shownPaymentId(id)} may have been paid and is not failed. Add a node that has the state of past blocks, and state the nonce again.`,
    };
  return {
    code,
    reason: `The signer has signed ${shownPaymentId(id)} with nonce ${doubt.signedNonce}, and the database, which was restored from a backup, has given it nonce ${nonce}. It may have been paid, so it is not failed, and nothing of the wallet is changed. Look on the chain for the transaction with nonce ${doubt.signedNonce} before you pay it in another way.`,
  };
}

function describeUncovered({ amount, asset }: NewLoss): HaltAgain {
  return {
    code: "BALANCE_BELOW_BOOKS",
    reason: `${amount} base units of ${asset} are missing on the chain, and less than that is available in the books. Cancel payments that hold some, and state the nonce again.`,
  };
}

function lossOf(
  { network: { network }, recorder: { newUuid, now } }: DriverContext,
  chain: FollowedChain,
  { tenantId, walletId, asset, amount }: GatheredAmount,
): NewLoss {
  const { number } = settledOf(chain);
  // A client's key has no spaces, so none can occupy it.
  const idempotencyKey = `missing ${network} ${walletId} ${asset} ${number}`;
  return {
    ...{ tenantId, id: newUuid(), walletId, asset, amount, address: unknownAddress, idempotencyKey },
    ...{ requestHash: hashRequest({ missing: idempotencyKey }), reference: `missing at block ${number}` },
    ...{ outsideId: externalAccountId(network), createdAt: new Date(now()) },
  };
}

/** Returns the first that the books do not have available; nothing is written then. */
async function recordLosses(
  { network: { network }, recorder }: DriverContext,
  unit: ChainUnit,
  losses: readonly NewLoss[],
): Promise<NewLoss | undefined> {
  if (losses.length === 0) return undefined;
  const accounts = losses.flatMap(({ tenantId, walletId, outsideId, asset }): AccountKey[] => [
    { tenantId, accountId: walletId, asset },
    { tenantId, accountId: outsideId, asset },
  ]);
  const balances = await unit.lockAccounts(accounts);
  const settlements = [];
  for (const loss of losses) {
    const transaction = asClaimed(loss, network);
    const decision = decideOnBalances(transaction, { kind: "settle" }, balances);
    if (typeof decision === "string") return loss;
    const occurredAt = new Date(Math.max(recorder.now(), loss.createdAt.getTime()));
    settlements.push({
      transaction,
      decision,
      occurredAt,
      dueAt: null,
      judgement: null,
      actorId: operatorActorId,
    });
  }
  await unit.insertLosses(losses);
  await unit.write(settlements, balances);
  return undefined;
}

function asClaimed(
  { tenantId, id, walletId, outsideId, asset, amount, createdAt }: NewLoss,
  network: string,
): ClaimedTransaction {
  return {
    ...{ tenantId, id, kind: "payout", state: "accepted", version: 1, network, asset, amount, feeHold: null },
    ...{
      sourceAccountId: walletId,
      destinationAccountId: outsideId,
      clientId: null,
      createdAt,
      countedAt: null,
    },
  };
}
