import { LRUCache } from "lru-cache";
import type { FoundWallet, KnownWallet, WalletRole, WalletStore } from "./wallet.js";

/**
 * Caches a tenant's wallets: wallets are never removed, and the fields here of an active one never change, so a request for a known
 * wallet costs no query. One that is still being created is read again each time.
 */
export interface WalletDirectory {
  find: (tenantId: string, walletId: string) => Promise<KnownWallet | undefined>;
  findByRole: (tenantId: string, role: WalletRole) => Promise<KnownWallet>;
}

const entriesMax = 100_000;

export function createWalletDirectory(
  store: Pick<WalletStore, "findWallet" | "findWalletByRole">,
): WalletDirectory {
  const known = new LRUCache<string, KnownWallet>({ max: entriesMax });

  function remember(key: string, wallet: FoundWallet): KnownWallet {
    if (wallet.state !== "active") return wallet;
    known.set(key, wallet);
    return wallet;
  }

  return {
    find: async (tenantId, walletId) => {
      const key = `${tenantId} ${walletId}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const wallet = await store.findWallet(tenantId, walletId);
      return wallet && remember(key, wallet);
    },
    findByRole: async (tenantId, role) => {
      const key = `${tenantId} ${role}`;
      return known.get(key) ?? remember(key, await store.findWalletByRole(tenantId, role));
    },
  };
}
