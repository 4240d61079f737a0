import { type AssetRegistry, timeOfUuidV7 } from "@bursar/domain";
import { type CreateDepositBody, readId, showId } from "@bursar/protocol";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { ClientOrigin } from "../audit/audit-entry.js";
import { callerReviewOf, describeReviewedAct } from "../clients/review-caller.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { fieldFault, readMoney } from "../transactions/read-request.js";
import { asAccepted, type Transaction, type TransactionStore } from "../transactions/transaction.js";
import type { DepositStore, DepositUnit } from "./deposit.js";
import { depositKeyOf } from "./deposit-key.js";
import { type DepositDraft, postDeposit } from "./post-deposit.js";

export interface CreateDepositDeps {
  assets: AssetRegistry;
  deposits: DepositStore;
  transactions: Pick<TransactionStore, "findByKey">;
  newUuid: () => string;
  now: () => number;
}

interface CreatedDeposit {
  transaction: Transaction;
  /** Whether an earlier request with the same key has created it. */
  replayed: boolean;
}

export type CreateDeposit = (
  origin: ClientOrigin,
  idempotencyKey: string,
  body: CreateDepositBody,
  /** The span of the request, if it is recorded. */
  trace?: TraceContext,
) => Promise<CreatedDeposit | Refused>;

const bookNetwork = "book";

/** Credits a wallet of the book with money from outside, exactly once for each key. It is final when this returns. */
export function createDepositCreator(deps: CreateDepositDeps): CreateDeposit {
  return async (origin, key, body, trace) => {
    const drafted = draftDeposit(deps, origin, key, body);
    // The limits of the asset may have been others when the deposit was made.
    if (isRefused(drafted))
      return (await replayDeposit(deps, origin.principal.tenantId, key, body)) ?? drafted;
    const draft = { ...drafted, trace };
    const audit = describeReviewedAct(origin, "deposit.create", showId("tx", draft.id), new Date(deps.now()));
    const posted = await deps.deposits.unitOfWork(async (unit) => {
      const refused =
        (await unit.reviewCaller(draft.tenantId, callerReviewOf(origin, deps.now))) ??
        (await refuseWallet(unit, draft));
      return refused ?? (await postDeposit(unit, draft, audit));
    });
    if (isRefused(posted)) return posted;
    if (posted !== undefined)
      return { transaction: { ...asTransaction(draft), steps: [posted] }, replayed: false };
    const replayed = await replayDeposit(deps, draft.tenantId, key, body);
    if (replayed === undefined) throw new Error("the deposit that an idempotency key belongs to is missing");
    return replayed;
  };
}

async function replayDeposit(
  { transactions }: Pick<CreateDepositDeps, "transactions">,
  tenantId: string,
  key: string,
  body: CreateDepositBody,
): Promise<CreatedDeposit | Refused | undefined> {
  const earlier = await transactions.findByKey(tenantId, depositKeyOf(key));
  if (earlier === undefined) return undefined;
  // It was final when it was first answered, so what is stored is the original answer.
  return replay(earlier.requestHash, hashRequest(body), () => ({
    transaction: earlier.transaction,
    replayed: true,
  }));
}

function draftDeposit(
  { assets, newUuid }: CreateDepositDeps,
  { principal: { tenantId, clientId } }: ClientOrigin,
  key: string,
  body: CreateDepositBody,
): DepositDraft | Refused {
  const money = readMoney(assets, body);
  if (isRefused(money)) return money;
  const walletId = readId("wlt", body.destination.wallet_id);
  if (walletId === undefined) return unknownWallet;
  return {
    tenantId,
    id: newUuid(),
    clientId,
    idempotencyKey: depositKeyOf(key),
    requestHash: hashRequest(body),
    reference: body.reference,
    ...money,
    walletId,
    metadata: body.metadata ?? null,
  };
}

const unknownWallet = fieldFault("WALLET_UNKNOWN", "destination.wallet_id", "is not a wallet of this tenant");

/** Read in the SQL transaction, not from a cache: what is credited here must exist in this database. */
async function refuseWallet(
  unit: DepositUnit,
  { tenantId, walletId, asset }: DepositDraft,
): Promise<Refused | undefined> {
  const network = await unit.findNetwork(tenantId, walletId);
  if (network === undefined) return unknownWallet;
  if (network !== bookNetwork)
    return fieldFault(
      "DEPOSIT_NOT_SUPPORTED",
      "destination",
      `is a wallet of the network ${network}; send the asset to its address`,
    );
  if (asset.network !== network)
    return fieldFault(
      "NETWORK_MISMATCH",
      "destination",
      `is a wallet of the network ${network}; ${asset.code} is on ${asset.network}`,
    );
  return undefined;
}

function asTransaction({ walletId, trace: _, ...draft }: DepositDraft): Transaction {
  return asAccepted({
    ...draft,
    parties: { kind: "deposit", source: { address: null }, destination: { walletId } },
    expiresAt: null,
    createdAt: new Date(timeOfUuidV7(draft.id)),
    policyVersion: 0,
    policyRule: null,
    needsJudgement: false,
  });
}
