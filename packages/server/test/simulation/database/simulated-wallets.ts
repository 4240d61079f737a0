import {
  loggedWalletState,
  type Wallet,
  type WalletActivation,
  type WalletStore,
  type WalletWithBalances,
} from "../../../src/app/wallets/wallet.js";
import type { Actor } from "../world/scheduler.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import { appendEvents } from "./simulated-events.js";
import type { Rows } from "./simulated-rows.js";
import { accounts, keyOf, walletKeys, wallets } from "./simulated-tables.js";

/** `store/wallets.ts`, on the simulated database: the same statements in the same order, but for the audit log's. */
export function createSimulatedWalletStore(
  database: SimulatedDatabase,
  actor: Actor,
  assets: readonly string[],
): WalletStore & WalletActivation {
  const read = (rows: Rows, tenantId: string, id: string): WalletWithBalances | undefined => {
    const wallet = rows.get(wallets, keyOf(tenantId, id));
    if (wallet === undefined) return undefined;
    const balances = assets.flatMap((asset) => {
      const balance = rows.get(accounts, keyOf(tenantId, id, asset));
      return balance === undefined ? [] : [{ asset, ...balance, chain: null }];
    });
    return { ...wallet, balances, sending: null };
  };

  return {
    createWallet: (wallet, request) =>
      database.transaction(actor, async (run) => {
        const { tenantId, id } = wallet;
        const key = request === undefined ? undefined : keyOf(tenantId, request.key);
        const isCreated = await run("insert wallet", async (rows) => {
          if (key !== undefined && !(await rows.isFree(walletKeys, key))) return false;
          if (key !== undefined) rows.put(walletKeys, key, id);
          rows.insert(wallets, keyOf(tenantId, id), { ...wallet, requestHash: request?.hash ?? null });
          return true;
        });
        if (isCreated) return { created: wallet };
        return await run("find wallet by key", (rows) => {
          const earlierId = key === undefined ? undefined : rows.get(walletKeys, key);
          const found = rows.get(wallets, keyOf(tenantId, earlierId ?? ""));
          if (found?.requestHash == null) throw new Error("a wallet that was in the way is gone");
          const { requestHash, ...earlier } = found;
          return { earlier, requestHash };
        });
      }),
    readWallet: (tenantId, id) => database.query(actor, "read wallet", (rows) => read(rows, tenantId, id)),
    listWallets: (tenantId, _filter, limit, beforeId) =>
      database.query(actor, "list wallets", (rows) => ({
        items: rows
          .all(wallets)
          .filter(
            ({ tenantId: owner, id }) => owner === tenantId && (beforeId === undefined || id < beforeId),
          )
          .flatMap(({ id }) => read(rows, tenantId, id) ?? [])
          .reverse()
          .slice(0, limit),
        scannedTo: undefined,
      })),
    setFrozen: (tenantId, id, frozen, { occurredAt }) =>
      database.transaction(actor, async (run) => {
        const changed = await run("set frozen", async (rows) => {
          const wallet = await lockWalletIf(rows, tenantId, id, (found) => found.frozen !== frozen);
          if (wallet === undefined) return undefined;
          const next = { ...wallet, frozen, version: wallet.version + 1, updatedAt: occurredAt };
          rows.put(wallets, keyOf(tenantId, id), next);
          return next;
        });
        if (changed !== undefined) {
          await appendEvents(run, [
            {
              ...{ tenantId, event: "wallet.updated", subjectId: id, version: changed.version, occurredAt },
              state: loggedWalletState(changed.state, frozen),
              previousState: loggedWalletState(changed.state, !frozen),
              failureCode: null,
            },
          ]);
        }
        return await run("read wallet", (rows) => read(rows, tenantId, id));
      }),
    activateWallets: (limit, occurredAt) =>
      database.transaction(actor, async (run) => {
        const activated = await run("activate wallets", (rows) => activate(rows, limit, occurredAt));
        await appendEvents(
          run,
          activated.map(({ tenantId, id, version, frozen }) => ({
            ...{ tenantId, event: "wallet.updated" as const, subjectId: id, version, occurredAt },
            state: loggedWalletState("active", frozen),
            previousState: loggedWalletState("creating", frozen),
            failureCode: null,
          })),
        );
        return activated.length;
      }),
    readWallets: (tenantId, ids) =>
      database.query(actor, "read wallets", (rows) =>
        ids.flatMap((id) => rows.get(wallets, keyOf(tenantId, id)) ?? []),
      ),
    findWallet: (tenantId, id) =>
      database.query(actor, "look for wallet", (rows) => rows.get(wallets, keyOf(tenantId, id))),
    findWalletByRole: (tenantId, role) =>
      database.query(actor, "find wallet by role", (rows) => {
        const found = rows
          .all(wallets)
          .find((wallet) => wallet.tenantId === tenantId && wallet.role === role);
        if (found === undefined) throw new Error(`the tenant ${tenantId} has no ${role} wallet`);
        return found;
      }),
    // The wallets of the simulation have no addresses.
    findWalletByAddress: async () => undefined,
  };
}

/** An UPDATE … WHERE: waits for another that is changing the row, and looks again whether the condition still holds. */
async function lockWalletIf(
  rows: Rows,
  tenantId: string,
  id: string,
  condition: (wallet: Wallet) => boolean,
) {
  const key = keyOf(tenantId, id);
  const before = rows.get(wallets, key);
  if (before === undefined || !condition(before)) return undefined;
  await rows.lock(wallets, key);
  const now = rows.get(wallets, key);
  return now !== undefined && condition(now) ? now : undefined;
}

function activate(rows: Rows, limit: number, occurredAt: Date): Wallet[] {
  return rows
    .all(wallets)
    .filter(({ state }) => state === "creating")
    .filter(({ tenantId, id }) => rows.lockUnlessLocked(wallets, keyOf(tenantId, id)))
    .slice(0, limit)
    .map((wallet) => {
      const active = {
        ...wallet,
        state: "active" as const,
        version: wallet.version + 1,
        updatedAt: occurredAt,
      };
      rows.put(wallets, keyOf(wallet.tenantId, wallet.id), active);
      return active;
    });
}
