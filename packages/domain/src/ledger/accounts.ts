/**
 * The ledger of a tenant is a set of accounts, one for each asset. A wallet is an account. Three more kinds close the books, so that
 * the accounts of a tenant sum to zero for every asset: `external` stands for everything outside, one account for each network;
 * `market` for the other tenants that it trades with; `fees` is the wallet that market fees are paid to.
 */
export type AccountKind = "wallet" | "external" | "market" | "fees";

export interface AccountKey {
  tenantId: string;
  accountId: string;
  asset: string;
}

/** The balance of an account in its asset: available, and held for transactions and orders in progress. */
export interface Balance {
  available: bigint;
  held: bigint;
}

/**
 * The clearing account of a tenant's trades. An amount that the tenant pays on a market is credited here, and an amount that it receives
 * is debited. So each tenant's ledger balances on its own, and over all tenants these accounts sum to zero.
 */
export const marketClearingAccountId = "00000000-0000-8000-8000-000000000002";

/** The tenant that market fees are paid to, and its wallet for them. A migration creates both. */
export const feeTenantId = "00000000-0000-8000-8000-0000000000a0";
export const feeAccountId = "00000000-0000-8000-8000-0000000000a3";

const bookNetwork = "book";
const bookExternalAccountId = "00000000-0000-8000-8000-000000000001";
/** Followed by 60 bits of the network's name. A wallet's id is a UUIDv7, which never begins like this. */
const externalPrefix = "00000000-0000-8001-8";

/**
 * The account of the outside world on one network. Its balance is the sum of payouts minus the sum of deposits. Two networks could in
 * theory share an id, so the configured networks are compared at startup: see `findExternalAccountCollision`.
 */
export function externalAccountId(network: string): string {
  if (network === bookNetwork) return bookExternalAccountId;
  const digits = (hash64(network) >> 4n).toString(16).padStart(15, "0");
  return `${externalPrefix}${digits.slice(0, 3)}-${digits.slice(3)}`;
}

/** Two of these networks that would share an external account. */
export function findExternalAccountCollision(networks: readonly string[]): [string, string] | undefined {
  const byId = new Map<string, string>();
  for (const network of networks) {
    const id = externalAccountId(network);
    const other = byId.get(id);
    if (other !== undefined && other !== network) return [other, network];
    byId.set(id, network);
  }
  return undefined;
}

export function accountKind(accountId: string): AccountKind {
  // Nearly all accounts are wallets, so they are recognised by a single comparison.
  if (!accountId.startsWith("00000000-0000-800")) return "wallet";
  if (accountId === bookExternalAccountId || accountId.startsWith(externalPrefix)) return "external";
  if (accountId === marketClearingAccountId) return "market";
  return accountId === feeAccountId ? "fees" : "wallet";
}

/** External and market accounts may be negative, because they balance the tenant's other accounts. Wallets and fees may not. */
export function mayBeNegative(accountId: string): boolean {
  const kind = accountKind(accountId);
  return kind === "external" || kind === "market";
}

/** The key of an account, unique over all tenants. */
export function accountName({ tenantId, accountId, asset }: AccountKey): string {
  return `${tenantId} ${accountId} ${asset}`;
}

/** FNV-1a of the UTF-16 code units, which are bytes for every name that a network can have. */
function hash64(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
  return hash;
}
