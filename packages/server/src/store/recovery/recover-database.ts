import type { StoredTokenKey } from "../../app/access/tokens.js";
import { describeAct, nilTenantId } from "../../app/audit/audit-entry.js";
import { appendAudit } from "../access/audit.js";
import { endAllSessions } from "../access/people/sessions.js";
import type { Database, Tx } from "../core/database.js";
import { lastDoubt } from "../core/identity/database-epochs.js";
import { sql } from "../core/sql.js";

/** What an operator does after a restore to an earlier point. */
export interface Recovery {
  /** Names the recovery: with the same key it is done once. */
  key: string | undefined;
  /** By how much every sequence is lifted, and past which number at least. */
  lift: number;
  past: number;
  /** Signs tokens from now on. All other keys are removed, so that no token from before is accepted. */
  tokenKey: StoredTokenKey;
  now: Date;
}

export interface RecoveredEpoch {
  id: string;
  /** Whether an earlier call with the same key has begun it. */
  isRepeated: boolean;
}

/** A tenant whose sequences have a gap since the recovery, and the receivers to tell. */
export interface RecoveredTenant {
  id: string;
  name: string;
  /** The last sequence that was not lost. */
  kept: number;
  /** The next event has the sequence after this. */
  lifted: number;
  endpoints: { id: string; url: string }[];
}

export interface RecoveredMarket {
  market: string;
  /** The sequence of the book, until the next change. */
  levelSequence: number;
  /** The last trade. */
  tradeSequence: number;
}

/**
 * Begins a new epoch, lifts all sequences, and ends all tokens and sessions, because their ends may be lost, in one SQL transaction. Rows are
 * locked in the usual order: markets, sessions, audit heads, counters of the event log.
 */
export async function recoverDatabase(database: Database, recovery: Recovery): Promise<RecoveredEpoch> {
  return await database.transaction(async (tx) => {
    // Two recoveries at once would each begin an epoch.
    await tx.query(sql`LOCK TABLE database_epochs IN SHARE ROW EXCLUSIVE MODE`);
    const [earlier] = await tx.query<{ id: string }>(
      // Served by the unique index.
      sql`SELECT id FROM database_epochs WHERE key = ${recovery.key ?? null}`,
    );
    if (earlier !== undefined) return { id: earlier.id, isRepeated: true };
    // An earlier version counts no doubts, and compares wallets with this number alone. Served by the primary keys.
    const [epoch] = await tx.query<{ id: string }>(sql`
      INSERT INTO database_epochs (number, system_identifier, timeline, reason, key)
      SELECT number + 1 + ${lastDoubt}, system_identifier, timeline, 'recovered', ${recovery.key ?? null}
      FROM database_epochs ORDER BY number DESC LIMIT 1
      RETURNING id
    `);
    if (epoch === undefined) throw new Error("the database has no epoch");
    await liftMarkets(tx, recovery);
    await replaceTokenKeys(tx, recovery.tokenKey);
    await endAllSessions(tx, recovery.now);
    const origin = { by: "operator", tenantId: nilTenantId } as const;
    await appendAudit(tx, [describeAct(origin, "database.recover", epoch.id, recovery.now)]);
    await liftEvents(tx, recovery, epoch.id);
    return { id: epoch.id, isRepeated: false };
  });
}

/**
 * All of them, by the primary key. The book's own sequence follows with its next change, because it is that of a command. If commands wait,
 * they keep their sequences, and those that were executed end before them.
 */
async function liftMarkets(tx: Tx, { lift, past }: Recovery): Promise<void> {
  await tx.query(sql`
    UPDATE markets m SET
      applied_sequence = CASE
        WHEN EXISTS (SELECT FROM market_commands c WHERE c.market = m.market AND c.sequence > m.applied_sequence)
        THEN applied_sequence ELSE greatest(admitted_sequence + ${lift}::bigint, ${past}::bigint) END,
      admitted_sequence = greatest(admitted_sequence + ${lift}::bigint, ${past}::bigint),
      trades_skipped = trades_skipped + greatest(${lift}::bigint, ${past}::bigint - trade_sequence),
      trade_sequence = greatest(trade_sequence + ${lift}::bigint, ${past}::bigint)
  `);
}

async function replaceTokenKeys(tx: Tx, key: StoredTokenKey): Promise<void> {
  await tx.query(sql`DELETE FROM token_keys`);
  await tx.query(sql`
    INSERT INTO token_keys (id, public_key, private_key, active_from)
    VALUES (${key.id}, ${Buffer.from(key.publicKey)}, ${Buffer.from(key.privateKey)}, ${key.activeFrom})
  `);
}

/** All tenants, by the primary key: one without events may have had some that were lost. */
async function liftEvents(tx: Tx, { lift, past }: Recovery, epochId: string): Promise<void> {
  await tx.query(
    sql`INSERT INTO event_sequences (tenant_id, sequence) SELECT id, 0 FROM tenants ORDER BY id ON CONFLICT DO NOTHING`,
  );
  await tx.query(sql`
    WITH before AS MATERIALIZED (SELECT tenant_id, sequence FROM event_sequences ORDER BY tenant_id FOR UPDATE),
    after AS (
      UPDATE event_sequences s SET sequence = greatest(s.sequence + ${lift}::bigint, ${past}::bigint)
      FROM before WHERE s.tenant_id = before.tenant_id
      RETURNING s.tenant_id, before.sequence AS kept, s.sequence AS lifted
    )
    INSERT INTO lifted_sequences (tenant_id, kept, lifted, epoch_id)
    SELECT tenant_id, kept, lifted, ${epochId} FROM after WHERE lifted > kept
  `);
}

const tenantsMax = 200;

/** Tells the audit log of every tenant, a batch of tenants in each commit. What an earlier call has done is not repeated. */
export async function auditRecovery(database: Database, epochId: string, now: Date): Promise<void> {
  for (let afterId = nilTenantId; ; ) {
    const after = afterId;
    const tenantIds = await database.transaction(async (tx) => {
      // Served by the primary key.
      const rows = await tx.query<{ tenantId: string; kept: string; lifted: string; audited: boolean }>(sql`
        SELECT tenant_id AS "tenantId", kept, lifted, audited FROM lifted_sequences
        WHERE tenant_id > ${after} AND epoch_id = ${epochId} ORDER BY tenant_id LIMIT ${tenantsMax} FOR UPDATE
      `);
      const missing = rows.filter(({ audited }) => !audited);
      await tx.query(sql`
        UPDATE lifted_sequences SET audited = true
        WHERE epoch_id = ${epochId} AND tenant_id = ANY(${missing.map(({ tenantId }) => tenantId)}::uuid[])
      `);
      await appendAudit(
        tx,
        missing.map(({ tenantId, kept, lifted }) =>
          describeAct({ by: "operator", tenantId }, "database.recover", `events/${kept}/${lifted}`, now),
        ),
      );
      return rows.map(({ tenantId }) => tenantId);
    });
    const last = tenantIds.at(-1);
    if (last === undefined) return;
    afterId = last;
  }
}

/** The tenants that a recovery concerns, a page at a time, with the endpoints that receive events. Served by primary keys. */
export async function listRecoveredTenants(
  database: Database,
  epochId: string,
  afterId: string | undefined,
): Promise<RecoveredTenant[]> {
  const rows = await database.query<RecoveredTenant & { kept: string; lifted: string }>(sql`
    SELECT t.id, t.name, l.kept, l.lifted, (
      SELECT coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'url', e.url) ORDER BY e.id), '[]')
      FROM webhook_endpoints e WHERE e.tenant_id = t.id AND e.state = 'enabled') AS endpoints
    FROM lifted_sequences l JOIN tenants t ON t.id = l.tenant_id
    WHERE l.tenant_id > ${afterId ?? nilTenantId} AND l.epoch_id = ${epochId} ORDER BY l.tenant_id LIMIT ${tenantsMax}
  `);
  return rows.map((row) => ({ ...row, kept: Number(row.kept), lifted: Number(row.lifted) }));
}

export async function listRecoveredMarkets(database: Database): Promise<RecoveredMarket[]> {
  const rows = await database.query<{ market: string; levelSequence: string; tradeSequence: string }>(sql`
    SELECT m.market, m.level_sequence AS "levelSequence", coalesce((
      SELECT t.sequence FROM trades t WHERE t.market = m.market ORDER BY t.sequence DESC LIMIT 1), 0) AS "tradeSequence"
    FROM markets m ORDER BY m.market
  `);
  return rows.map((row) => ({
    ...row,
    levelSequence: Number(row.levelSequence),
    tradeSequence: Number(row.tradeSequence),
  }));
}
