import { LRUCache } from "lru-cache";
import type { KnownWallet, WalletRole, WalletStore } from "./wallet.js";

/**
 * Caches the wallets that exist: wallets are never removed and their fields here never change, so a request for a known wallet costs no
 * query.
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

  function remember(key: string, wallet: KnownWallet): KnownWallet {
    known.set(key, wallet);
    return wallet;
  }

  return {
    find: async (tenantId, walletId) => {
      const key = `${tenantId} ${walletId}`;
      const wallet = known.get(key) ?? (await store.findWallet(tenantId, walletId));
      return wallet && remember(key, wallet);
    },
    findByRole: async (tenantId, role) => {
      const key = `${tenantId} ${role}`;
      return known.get(key) ?? remember(key, await store.findWalletByRole(tenantId, role));
    },
  };
}
