import { showId } from "@bursar/protocol";
import type { Table, Tables } from "../database/simulated-rows.js";
import { accounts, keyOf, wallets } from "../database/simulated-tables.js";
import type { Random } from "./random.js";

/** What a wallet has when the run begins, which everybody may know. */
export interface OpeningBalance {
  tenant: string;
  walletId: string;
  asset: string;
  /** In base units. */
  amount: bigint;
}

/** Gives each tenant its two wallets and two more, with little enough money that some transactions fail. */
export function openBooks(
  tables: Tables,
  tenants: readonly string[],
  nowMs: number,
  random: Random,
): OpeningBalance[] {
  const put = <Row>(table: Table<Row>, key: string, row: Row) =>
    tables.set(table.name, (tables.get(table.name) ?? new Map<string, unknown>()).set(key, row));
  const createdAt = new Date(nowMs);
  const onBook = tenants.flatMap((tenant) =>
    ([["primary"], ["settlement"], [null], [null]] as const).flatMap(([role], index) => {
      const id = `${tenant.slice(0, -2)}${index}${tenant.slice(-1)}`;
      put(wallets, keyOf(tenant, id), {
        ...{ tenantId: tenant, id, name: `wallet ${index}`, purpose: "treasury", network: "book", role },
        ...{
          state: "active",
          frozen: false,
          frozenReason: null,
          version: 1,
          address: null,
          createdBy: null,
          createdAt,
          updatedAt: createdAt,
          requestHash: null,
        },
      });
      return ["USD", "ETH"].flatMap((asset) => {
        if (index > 0 && random.chance(0.5)) return [];
        const amount = BigInt(random.between(0, index === 0 ? 3000 : 800));
        put(accounts, keyOf(tenant, id, asset), { available: amount, held: 0n });
        return [{ tenant, walletId: showId("wlt", id), asset, amount }];
      });
    }),
  );
  const onNetwork = tenants.flatMap((tenant) => {
    const id = networkWalletOf(tenant);
    put(wallets, keyOf(tenant, id), {
      ...{ tenantId: tenant, id, name: "steps", purpose: "payout", network: "test:steps", role: null },
      ...{
        state: "active",
        frozen: false,
        frozenReason: null,
        version: 1,
        address: null,
        createdBy: null,
        createdAt,
        updatedAt: createdAt,
        requestHash: null,
      },
    });
    return [["STEP", random.between(0, 1500)] as const, ["GAS", random.between(0, 40)] as const].map(
      ([asset, units]) => {
        const amount = BigInt(units);
        put(accounts, keyOf(tenant, id, asset), { available: amount, held: 0n });
        return { tenant, walletId: showId("wlt", id), asset, amount };
      },
    );
  });
  return [...onBook, ...onNetwork];
}

/** The id of a tenant's wallet on the network of several steps. */
export function networkWalletOf(tenant: string): string {
  return `${tenant.slice(0, -2)}9${tenant.slice(-1)}`;
}
