import type { KnownWallet, WalletRole, WalletStore } from "./wallet.js";

/**
 * Which wallets there are, from memory: wallets are never removed and what is known of them here never changes, so what was found
 * once stays true, and a request for a known wallet costs no query.
 */
export interface WalletDirectory {
  find: (tenantId: string, walletId: string) => Promise<KnownWallet | undefined>;
  findByRole: (tenantId: string, role: WalletRole) => Promise<KnownWallet>;
}

const entriesMax = 100_000;

export function createWalletDirectory(
  store: Pick<WalletStore, "findWallet" | "findWalletByRole">,
): WalletDirectory {
  const known = new Map<string, KnownWallet>();

  function remember(key: string, wallet: KnownWallet): KnownWallet {
    known.set(key, wallet);
    if (known.size > entriesMax) known.delete(known.keys().next().value as string);
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
