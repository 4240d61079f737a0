/** The room for messages that wait to be handled: so many bytes for each tenant, on all its streams together. */
export interface MessageRoom {
  /** Returns false if the tenant has no room left for it. */
  take: (tenantId: string, bytes: number) => boolean;
  giveBack: (tenantId: string, bytes: number) => void;
}

/** What a message takes in memory beside its bytes. */
export const messageOverhead = 256;

export function createMessageRoom(bytesMax: number): MessageRoom {
  const taken = new Map<string, number>();
  return {
    take: (tenantId, bytes) => {
      const next = (taken.get(tenantId) ?? 0) + bytes;
      if (next > bytesMax) return false;
      taken.set(tenantId, next);
      return true;
    },
    giveBack: (tenantId, bytes) => {
      const next = (taken.get(tenantId) ?? 0) - bytes;
      if (next > 0) taken.set(tenantId, next);
      else taken.delete(tenantId);
    },
  };
}
