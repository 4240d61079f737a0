/** The tenant that fees are paid to, and its wallet for them; they are made with the schema. */
export const houseTenantId = "00000000-0000-8000-8000-0000000000a0";
export const feesWalletId = "00000000-0000-8000-8000-0000000000a3";

/**
 * The account of a tenant's dealings with all others on a market: what it has given is its balance, what it was given is taken from
 * it. So every tenant's books close by themselves, and over all tenants these accounts sum to zero.
 */
export const marketClearingAccountId = "00000000-0000-8000-8000-000000000002";
