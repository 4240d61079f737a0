import type { WalletRole, WalletStore } from "./wallet.js";

/**
 * Which wallets there are, from memory: wallets are never removed, so what was found once stays true, and a request for a
 * known wallet costs no query.
 */
export interface WalletDirectory {
  exists: (tenantId: string, walletId: string) => Promise<boolean>;
  findByRole: (tenantId: string, role: WalletRole) => Promise<string>;
}

const entriesMax = 100_000;

export function createWalletDirectory(
  store: Pick<WalletStore, "walletExists" | "findWalletByRole">,
): WalletDirectory {
  const known = new Map<string, string>();

  function remember(key: string, walletId: string): string {
    known.set(key, walletId);
    if (known.size > entriesMax) known.delete(known.keys().next().value as string);
    return walletId;
  }

  return {
    exists: async (tenantId, walletId) => {
      const key = `${tenantId} ${walletId}`;
      if (known.has(key)) return true;
      const exists = await store.walletExists(tenantId, walletId);
      if (exists) remember(key, walletId);
      return exists;
    },
    findByRole: async (tenantId, role) => {
      const key = `${tenantId} ${role}`;
      return known.get(key) ?? remember(key, await store.findWalletByRole(tenantId, role));
    },
  };
}
