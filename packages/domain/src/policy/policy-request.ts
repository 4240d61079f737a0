import type { WalletPurpose } from "../wallet/wallet-purpose.js";
import type { DestinationKind } from "./policy-document.js";

/** What policy looks at when it judges a transaction. Identifiers are UUIDs, the asset is its code, the amount in base units. */
export interface PolicyRequest {
  tenantId: string;
  clientId: string;
  asset: string;
  amount: bigint;
  network: string;
  sourceWalletId: string;
  sourcePurpose: WalletPurpose;
  /** `listed_address` only once the waiting time of the entry has passed. */
  destination: DestinationKind;
  /**
   * When it was asked for. The hour of the day is that of the request and not of the judgement, so that the engine, which comes
   * later, sees the same hour as the answer to the request did.
   */
  requestedAtMs: number;
}
