/** The room for messages that wait to be handled: so many bytes for each tenant, on all its streams together, and a part of it for each client. */
export interface MessageRoom {
  /** Returns false if the client, or its tenant, has no room left for it. */
  take: (owner: RoomOwner, bytes: number) => boolean;
  giveBack: (owner: RoomOwner, bytes: number) => void;
}

interface RoomOwner {
  readonly tenantId: string;
  readonly clientId: string;
}

/** What a message takes in memory beside its bytes. */
export const messageOverhead = 256;
/** One client does not keep the others of its tenant from sending. */
const clientsAtLeast = 4;

export function createMessageRoom(bytesMax: number): MessageRoom {
  const [ofTenant, ofClient] = [createTotals(), createTotals()];
  return {
    take: ({ tenantId, clientId }, bytes) => {
      const hasRoom =
        ofTenant.of(tenantId) + bytes <= bytesMax &&
        ofClient.of(clientId) + bytes <= bytesMax / clientsAtLeast;
      if (hasRoom) {
        ofTenant.add(tenantId, bytes);
        ofClient.add(clientId, bytes);
      }
      return hasRoom;
    },
    giveBack: ({ tenantId, clientId }, bytes) => {
      ofTenant.add(tenantId, -bytes);
      ofClient.add(clientId, -bytes);
    },
  };
}

function createTotals() {
  const totals = new Map<string, number>();
  return {
    of: (name: string) => totals.get(name) ?? 0,
    add: (name: string, change: number) => {
      const next = (totals.get(name) ?? 0) + change;
      if (next > 0) totals.set(name, next);
      else totals.delete(name);
    },
  };
}
