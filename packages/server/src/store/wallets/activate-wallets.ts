import {
  freezeDetails,
  loggedWalletState,
  type Wallet,
  type WalletActivation,
} from "../../app/wallets/wallet.js";
import { isolateFailingRows } from "../../runtime/concurrency/isolate-failing-rows.js";
import { leaveOutLocked, shortLockTimeoutMs } from "../../runtime/concurrency/leave-out-locked.js";
import {
  type Database,
  isDatabaseUnavailable,
  isLockTimeout,
  type KeyedQueryable,
} from "../core/database.js";
import { boundLockWaits } from "../core/lock-waits.js";
import { type FailureTable, type RowKey, recordFailure } from "../core/rows/failures.js";
import { hasKey, listKeys } from "../core/rows/locate-rows.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";

export const walletFailures: FailureTable = {
  kind: "wallet",
  table: sql`wallets`,
  attempts: sql`attempts`,
  retryAt: sql`retry_at`,
};

/** Activates new wallets of these networks and appends their events. A wallet that fails is retried later and does not delay the others. */
export function createWalletActivation(
  database: Database,
  log: EventLog,
  networks: readonly string[],
  onFailure: (wallet: RowKey, error: unknown) => void,
): WalletActivation {
  const activate = createActivate(database, log);
  return {
    activateWallets: async (limit, now) => {
      const activated = await isolateFailingRows(
        await listCreating(database, networks, limit, now),
        (wallets) => activate(wallets, now),
        {
          isUnavailable: isDatabaseUnavailable,
          onFailure: async (wallet, error) => {
            onFailure(wallet, error);
            await recordFailure(database, walletFailures, wallet, error, now);
          },
        },
      );
      return activated.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** The same number of each tenant, so that one which creates many does not delay others. Served by wallets_creating. */
export function listCreating(
  database: Database,
  networks: readonly string[],
  limit: number,
  now: Date,
): Promise<(RowKey & { network: string })[]> {
  const where = sql`o.state = 'creating' AND o.network = ANY (${[...networks]}::text[])
    AND (o.retry_at IS NULL OR o.retry_at <= ${now}::timestamptz)`;
  return database.query<RowKey & { network: string }>(sql`
    WITH RECURSIVE waiting AS (${waitingTenants({ table: sql`wallets`, where, key: sql`o.id` }, { limit })})
    SELECT o.tenant_id AS "tenantId", o.id, o.network FROM waiting CROSS JOIN LATERAL (
      SELECT o.tenant_id, o.id, o.network FROM wallets o WHERE ${where} AND o.tenant_id = waiting.tenant_id
      ORDER BY o.id LIMIT (SELECT ${limit}::bigint / count(*) FROM waiting)) AS o
    ORDER BY o.id
  `);
}

/** Longer than another process holds the log of a tenant. */
const lockTimeoutMs = 500;
/** How long a tenant in whose rows something else holds a lock is left out, and how long nobody waits for such a lock any more. */
const lockedRestMs = 5000;
const wasLockedMs = 60_000;

type OnActivated = (tx: KeyedQueryable, activated: readonly RowKey[]) => Promise<void>;

/**
 * Makes wallets active and returns how many are. Those that another process is activating are skipped, and so are those of tenants in whose
 * rows something else holds a lock: the others wait for it once. `onActivated` writes more in the same SQL transaction, about those that have
 * become active now.
 */
export function createActivate(database: Database, log: EventLog) {
  /** When a lock on rows of a tenant was found last. */
  const locked = new Map<string, number>();

  return async (
    wallets: readonly RowKey[],
    occurredAt: Date,
    onActivated: OnActivated = async () => undefined,
  ): Promise<number> => {
    const nowMs = performance.now();
    for (const [tenantId, foundMs] of locked) if (foundMs + wasLockedMs <= nowMs) locked.delete(tenantId);
    const isFree = ({ tenantId }: RowKey) =>
      (locked.get(tenantId) ?? Number.NEGATIVE_INFINITY) + lockedRestMs <= nowMs;
    const free = wallets.filter(isFree);
    if (free.length === 0) return 0;
    const activate = (some: readonly RowKey[], timeoutMs: number) =>
      activateWithin(database, log, some, { occurredAt, onActivated, timeoutMs });
    try {
      return await activate(free, locked.size > 0 ? shortLockTimeoutMs : lockTimeoutMs);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const tenantIds = [...new Set(free.map(({ tenantId }) => tenantId))];
      const activateOf = (some: readonly string[]) =>
        activate(
          free.filter(({ tenantId }) => some.includes(tenantId)),
          shortLockTimeoutMs,
        );
      const activated = await leaveOutLocked(tenantIds, activateOf, {
        isLockTimeout,
        isUnavailable: isDatabaseUnavailable,
        onLocked: (tenantId) => void locked.set(tenantId, performance.now()),
        // They are tried again by the next call.
        onUnknown: () => undefined,
      });
      return activated.reduce((sum, count) => sum + count, 0);
    }
  };
}

/** Served by the primary key. */
function activateWithin(
  database: Database,
  log: EventLog,
  wallets: readonly RowKey[],
  { occurredAt, onActivated, timeoutMs }: { occurredAt: Date; onActivated: OnActivated; timeoutMs: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    boundLockWaits(tx, timeoutMs);
    const activated = await tx.query<RowKey & Pick<Wallet, "version" | "frozen" | "frozenReason">>(sql`
      UPDATE wallets w
      SET state = 'active', version = version + 1, updated_at = ${occurredAt}, attempts = 0, last_error = NULL, retry_at = NULL
      WHERE w.ctid = ANY (ARRAY(
        SELECT c.ctid FROM ${listKeys(wallets)} CROSS JOIN LATERAL (
          SELECT c.ctid FROM wallets c WHERE ${hasKey(sql`c`, sql`given`)} AND c.state = 'creating'
          FOR UPDATE SKIP LOCKED) AS c))
      RETURNING w.tenant_id AS "tenantId", w.id, w.version, w.frozen, w.frozen_reason AS "frozenReason"
    `);
    await onActivated(tx, activated);
    await log.append(
      tx,
      activated.map(({ tenantId, id, version, frozen, frozenReason }) => ({
        tenantId,
        event: "wallet.updated" as const,
        subjectId: id,
        version,
        state: loggedWalletState("active", frozen),
        previousState: loggedWalletState("creating", frozen),
        failureCode: null,
        ...freezeDetails(frozenReason),
        occurredAt,
      })),
    );
    return activated.length;
  });
}
