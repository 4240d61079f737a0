import type { DestinationKind } from "@bursar/domain";

/** The addresses that a tenant allows payouts to. */
export interface AllowList {
  /** Whether the address, in its canonical form, is on the list and its waiting time has passed. */
  isListed: (tenantId: string, network: string, address: string, now: Date) => Promise<boolean>;
}

/** The status of an address that policy rules test. */
export async function kindOfAddress(
  allowList: AllowList,
  tenantId: string,
  { network, address }: { network: string; address: string },
  at: Date,
): Promise<Extract<DestinationKind, "address" | "listed_address">> {
  return (await allowList.isListed(tenantId, network, address, at)) ? "listed_address" : "address";
}
