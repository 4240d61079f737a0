/** Deliveries that are not written with their events, because they are too many for one statement. */
export interface BacklogStore {
  /** The next tenant that has some, in the order of tenants. */
  findBacklog: (afterTenantId: string | undefined) => Promise<string | undefined>;
  /**
   * Writes up to this many of them, of several tenants if there is room, beginning with a tenant that has some. A single event is written
   * however many deliveries it has.
   */
  writeSome: (fromTenantId: string, deliveriesMax: number) => Promise<WrittenDeliveries>;
}

export interface WrittenDeliveries {
  /** The tenants that have more deliveries now. */
  tenantIds: readonly string[];
  /** The last tenant that was served; undefined if another process serves all of them. */
  lastTenantId: string | undefined;
}
