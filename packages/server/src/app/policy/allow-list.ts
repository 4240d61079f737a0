/** The addresses that a tenant has said money may go to. */
export interface AllowList {
  /** Whether the address, in its canonical form, is on the list and its waiting time is over. */
  isListed: (tenantId: string, network: string, address: string, now: Date) => Promise<boolean>;
}
