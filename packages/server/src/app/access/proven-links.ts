import type { HeldKey } from "@bursar/domain";
import { createRecentCache } from "../../runtime/recent-cache.js";

const clientsMax = 10_000;

/** What a client passes on to those in whose lineage it is. */
export interface ProvenLink {
  /** Who controls it. */
  controllers: readonly string[];
  /** Those of them that created it, gave it a credential, or changed it alone: they could act as it. */
  actors: readonly string[];
  isPerson: boolean;
  publicKeys: readonly HeldKey[];
}

/**
 * Who controls a client, as its row said when the MAC of the row was verified, with its keys, whose digests the row has. The same row, by its
 * digest, is not verified again: a lineage has up to 100 clients whose rows seldom change, and verifying 200 of them took 40 ms. A database
 * that gives the digest of another row than the one it has can only choose among rows of the client that were authentic, as it can when it
 * gives the row itself.
 */
export interface ProvenLinks {
  get: (clientId: string, digest: string) => ProvenLink | undefined;
  set: (clientId: string, digest: string, link: ProvenLink) => void;
}

export function createProvenLinks(): ProvenLinks {
  const proven = createRecentCache<{ digest: string; link: ProvenLink }>(clientsMax);
  return {
    get: (clientId, digest) => {
      const known = proven.get(clientId);
      return known?.digest === digest ? known.link : undefined;
    },
    set: (clientId, digest, link) => {
      proven.set(clientId, { digest, link });
    },
  };
}
