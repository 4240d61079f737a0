import type { WalletPurpose } from "../wallet/wallet-purpose.js";
import type { DestinationKind } from "./document/policy-document.js";

/** The facts that policy judges a transaction or an order by. Identifiers are UUIDs, the asset is a code, and the amount is in base units. */
export interface PolicyRequest {
  /** The market of an order; null for a transaction. */
  market: string | null;
  tenantId: string;
  clientId: string;
  asset: string;
  amount: bigint;
  network: string;
  sourceWalletId: string;
  sourcePurpose: WalletPurpose;
  /** `listed_address` only after the delay of the allow-list entry has passed. */
  destination: DestinationKind;
  /**
   * The time of the request. The hour of the day is that of the request, not of the judgement, so that the engine, which judges later,
   * uses the same hour as the response to the request.
   */
  requestedAtMs: number;
}
