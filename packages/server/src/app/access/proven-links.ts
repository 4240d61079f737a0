import { createRecentCache } from "../../runtime/recent-cache.js";

const clientsMax = 10_000;

/**
 * Who controls a client, as its row said when the MAC of the row was verified. The same row, by its digest, is not verified again: a lineage
 * has up to 100 clients whose rows seldom change, and verifying 200 of them took 40 ms. A database that gives the digest of another row than
 * the one it has can only choose among rows of the client that were authentic, as it can when it gives the row itself.
 */
export interface ProvenLinks {
  get: (clientId: string, digest: string) => readonly string[] | undefined;
  set: (clientId: string, digest: string, controllers: readonly string[]) => void;
}

export function createProvenLinks(): ProvenLinks {
  const proven = createRecentCache<{ digest: string; controllers: readonly string[] }>(clientsMax);
  return {
    get: (clientId, digest) => {
      const known = proven.get(clientId);
      return known?.digest === digest ? known.controllers : undefined;
    },
    set: (clientId, digest, controllers) => {
      proven.set(clientId, { digest, controllers });
    },
  };
}
