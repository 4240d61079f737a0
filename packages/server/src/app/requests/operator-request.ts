import type { Earlier, IdempotentRequest } from "./idempotency.js";

/** A command of the operator that can be repeated under its key. Keys are unique for each action. */
export interface OperatorRequest extends IdempotentRequest {
  action: "tenant.create" | "wallet.fund";
  /** The operator's own name for it, such as the number of a bank statement. */
  reference?: string | undefined;
}

/** What such a command did. */
export interface OperatorResult {
  tenantId: string;
  /** The first client of a tenant, or the id of a funding in the ledger. */
  objectId: string;
  /** The secret of a tenant's first client, for as long as a repeated command shows it. */
  sealedSecret: Uint8Array | null;
}

export type EarlierResult = Earlier<OperatorResult>;
