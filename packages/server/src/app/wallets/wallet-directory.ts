import { LRUCache } from "lru-cache";
import type { FoundWallet, KnownWallet, WalletRole, WalletStore } from "./wallet.js";

/**
 * Caches a tenant's wallets: wallets are never removed, unless the database is restored, and the fields here of an active one never
 * change, so a request for a known wallet costs no query. One that is still being created is read again each time.
 */
export interface WalletDirectory {
  find: (tenantId: string, walletId: string) => Promise<KnownWallet | undefined>;
  findByRole: (tenantId: string, role: WalletRole) => Promise<KnownWallet>;
  /** Not cached: an address that is not the tenant's now can become so. */
  findByAddress: WalletStore["findWalletByAddress"];
  /** Drops everything, because the database may have gone back to an earlier state. */
  clear: () => void;
}

/** The cache allocates its tables at once, so a process with few wallets can be given fewer. */
const defaultEntriesMax = 100_000;

export function createWalletDirectory(
  store: Pick<WalletStore, "findWallet" | "findWalletByRole" | "findWalletByAddress">,
  entriesMax = defaultEntriesMax,
): WalletDirectory {
  const known = new LRUCache<string, KnownWallet>({ max: entriesMax });
  let clears = 0;

  async function read<Found extends FoundWallet | undefined>(
    key: string,
    reading: Promise<Found>,
  ): Promise<Found> {
    const clearsBefore = clears;
    const wallet = await reading;
    if (wallet?.state === "active" && clears === clearsBefore) known.set(key, wallet);
    return wallet;
  }

  return {
    find: async (tenantId, walletId) => {
      const key = `${tenantId} ${walletId}`;
      return known.get(key) ?? (await read(key, store.findWallet(tenantId, walletId)));
    },
    findByRole: async (tenantId, role) => {
      const key = `${tenantId} ${role}`;
      return known.get(key) ?? (await read(key, store.findWalletByRole(tenantId, role)));
    },
    findByAddress: store.findWalletByAddress,
    clear: () => {
      clears += 1;
      known.clear();
    },
  };
}
