import type { Asset } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { describeAct } from "../audit/audit-entry.js";
import type { IdempotentRequest } from "../requests/idempotency.js";
import type { EarlierResult } from "../requests/operator-request.js";
import type { DepositStore } from "./deposit.js";
import { postDeposit } from "./post-deposit.js";

/** A deposit that the operator makes. */
interface Funding {
  tenantId: string;
  walletId: string;
  asset: Asset;
  amount: bigint;
  /** The operator's own name for it; the key takes its place. */
  reference?: string | undefined;
  request: IdempotentRequest;
}

/** If a command with the same key has funded before, nothing is written and that funding is returned. */
export type FundWallet = (funding: Funding) => Promise<EarlierResult | undefined>;

export interface FundWalletDeps {
  deposits: DepositStore;
  newUuid: () => string;
  now: () => number;
}

/** Credits a wallet of the book for the operator: the same deposit, and the same event, as one that a client creates. */
export function createFunder({ deposits, newUuid, now }: FundWalletDeps): FundWallet {
  return async ({ tenantId, walletId, asset, amount, reference, request: { key, hash } }) => {
    const id = newUuid();
    const request = { action: "wallet.fund", key, hash, reference } as const;
    const act = describeAct(
      { by: "operator", tenantId },
      request.action,
      showId("wlt", walletId),
      new Date(now()),
    );
    const draft = {
      ...{ tenantId, id, walletId, asset, amount },
      clientId: null,
      idempotencyKey: `fund ${key}`,
      requestHash: hash,
      reference: reference ?? key,
      metadata: null,
    };
    return await deposits.unitOfWork(async (unit) => {
      const earlier = await unit.recordRequest(request, { tenantId, objectId: id, sealedSecret: null });
      if (earlier !== undefined) return earlier;
      const posted = await postDeposit(unit, draft, { ...act, requestId: key });
      if (posted === undefined) throw new Error("a funding exists whose command was not recorded");
      return undefined;
    });
  };
}
