import { createRecentCache } from "../../runtime/recent-cache.js";
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

const defaultEntriesMax = 100_000;

export function createWalletDirectory(
  store: Pick<WalletStore, "findWallet" | "findWalletByRole" | "findWalletByAddress">,
  entriesMax = defaultEntriesMax,
): WalletDirectory {
  const known = createRecentCache<KnownWallet>(entriesMax);
  let clears = 0;

  async function read<Found extends FoundWallet | undefined>(
    tenantId: string,
    key: string,
    reading: Promise<Found>,
  ): Promise<Found> {
    const clearsBefore = clears;
    const wallet = await reading;
    if (wallet?.state === "active" && clears === clearsBefore)
      for (const name of new Set([key, wallet.id])) known.set(`${tenantId} ${name}`, wallet);
    return wallet;
  }

  return {
    find: async (tenantId, walletId) => {
      const wallet = known.get(`${tenantId} ${walletId}`);
      return wallet ?? (await read(tenantId, walletId, store.findWallet(tenantId, walletId)));
    },
    findByRole: async (tenantId, role) => {
      const wallet = known.get(`${tenantId} ${role}`);
      return wallet ?? (await read(tenantId, role, store.findWalletByRole(tenantId, role)));
    },
    findByAddress: store.findWalletByAddress,
    clear: () => {
      clears += 1;
      known.clear();
    },
  };
}
