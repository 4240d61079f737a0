/** Deliveries that are not written with their events, because they are too many for one statement. */
export interface BacklogStore {
  /** The next tenant that has some, in the order of tenants. */
  findBacklog: (afterTenantId: string | undefined) => Promise<string | undefined>;
  /** Writes the next of them, as many as one statement may, and returns how many. */
  writeSome: (tenantId: string) => Promise<number>;
}
