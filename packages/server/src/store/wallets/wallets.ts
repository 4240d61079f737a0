import { actorIdOfAct } from "../../app/events/actor.js";
import {
  type FoundWallet,
  freezeDetails,
  loggedWalletState,
  type Wallet,
  type WalletBalance,
  type WalletFilter,
  type WalletSending,
  type WalletStore,
  type WalletWithBalances,
} from "../../app/wallets/wallet.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import { appendAudit } from "../access/audit.js";
import { isStopped } from "../access/stops/stop-records.js";
import { isConfirmedOf } from "../chain/wallets/confirmed-wallets.js";
import { readAddress, sealedAddress, type WithSealedAddress } from "../chain/wallets/wallet-integrity.js";
import type { Database, KeyedQueryable, Queryable } from "../core/database.js";
import { selectBoundedPage, toListed, whereAll } from "../core/rows/bounded-page.js";
import { findByKey, insertOrFind } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { requestCancels } from "../markets/request-changes.js";
import { requestFreeze, writeFrozen } from "./freeze-wallets.js";

type PlainRow = WithSealedAddress<Wallet>;

type WalletRow = PlainRow & {
  balances: BalanceRow[];
  sending: SendingRow | null;
};

type FoundRow = WithSealedAddress<FoundWallet>;

interface BalanceRow {
  asset: string;
  available: string;
  held: string;
  incoming: string | null;
  onChain: string | null;
  blockNumber: number | null;
}

interface SendingRow extends Omit<WalletSending, "oldestAt" | "baseFee"> {
  oldestAt: string | null;
  baseFee: string | null;
}

export function createWalletStore(database: Database, log: EventLog): WalletStore {
  const findByAddress = createAddressFinder(database);
  return {
    createWallet: (wallet, request, audit) =>
      database.transaction(async (tx) => {
        const table = { columns: walletColumns, table: sql`wallets w` };
        const found = await insertOrFind(
          () => insertWallet(tx, wallet, request),
          () => findByKey<PlainRow>(tx, table, wallet.tenantId, request?.key),
        );
        if (found === undefined) {
          await appendAudit(tx, [audit]);
          return { created: wallet };
        }
        const { requestHash, ...earlier } = found;
        return { earlier: readPlain(tx, earlier), requestHash };
      }),
    readWallet: (tenantId, id) => readWallet(database, tenantId, id),
    // Served by the primary key.
    readWallets: async (tenantId, ids) => {
      const rows = await database.query<PlainRow>(sql`
        SELECT ${walletColumns} FROM wallets w WHERE w.tenant_id = ${tenantId} AND w.id = ANY(${[...new Set(ids)]}::uuid[])
      `);
      return rows.map((row) => readPlain(database, row));
    },
    // Served by the primary key, read backwards, for a bounded number of rows.
    listWallets: async (tenantId, filter, limit, beforeId) => {
      const before = beforeId === undefined ? sql`` : sql`AND id < ${beforeId}`;
      const page = selectBoundedPage({
        lead: (max) => sql`
          SELECT id, purpose, state, network, frozen FROM wallets WHERE tenant_id = ${tenantId} ${before}
          ORDER BY id DESC LIMIT ${max}`,
        rest: whereAll(conditions(filter)),
        limit,
      });
      const rows = await database.query<WalletRow & { isEnd: boolean }>(sql`
        SELECT page."isEnd", ${walletColumns}, ${balancesColumn}, ${sendingColumn} FROM (${page}) page
        CROSS JOIN LATERAL (SELECT * FROM wallets w WHERE w.tenant_id = ${tenantId} AND w.id = page.id OFFSET 0) w
        ORDER BY page.id DESC
      `);
      return toListed(rows, (row) => withBalances(database, row));
    },
    setFrozen: async (tenantId, id, frozen, audit) => {
      if (frozen) await requestFreeze(database, tenantId, id);
      return await database.transaction(async (tx) => {
        // Its orders are cancelled. They are locked before the wallet, in the same order as by the holder of a market.
        if (frozen) await requestCancels(tx, tenantId, id, actorIdOfAct(audit));
        const changed = await writeFrozen(tx, {
          ...{ tenantId, id, frozen, reason: audit.reason ?? null },
          now: audit.occurredAt,
        });
        if (changed !== undefined) {
          await appendAudit(tx, [audit]);
          await log.append(tx, [
            {
              tenantId,
              event: "wallet.updated",
              subjectId: id,
              version: changed.version,
              state: loggedWalletState(changed.state, frozen),
              previousState: loggedWalletState(changed.state, changed.wasFrozen),
              failureCode: null,
              ...freezeDetails(changed.frozenReason),
              occurredAt: audit.occurredAt,
              actorId: actorIdOfAct(audit),
            },
          ]);
        }
        tx.send(sql`DELETE FROM requested_freezes WHERE tenant_id = ${tenantId} AND wallet_id = ${id}`);
        return await readWallet(tx, tenantId, id);
      });
    },
    findWallet: async (tenantId, id) => {
      const [row] = await database.query<FoundRow>(
        sql`SELECT ${foundColumns} FROM wallets w WHERE tenant_id = ${tenantId} AND id = ${id}`,
      );
      return row && readFound(database, tenantId, row);
    },
    // Served by the unique key on the role.
    findWalletByRole: async (tenantId, role) => {
      const [row] = await database.query<FoundRow>(
        sql`SELECT ${foundColumns} FROM wallets w WHERE tenant_id = ${tenantId} AND role = ${role}`,
      );
      if (row === undefined) throw new Error(`the tenant ${tenantId} has no ${role} wallet`);
      return readFound(database, tenantId, row);
    },
    findWalletByAddress: (tenantId, network, address) => findByAddress({ tenantId, network, address }),
  };
}

const lookUpBatchMax = 256;

/** Served by the unique key on the address and by the primary key of wallets. The payouts of a batch share one query. */
function createAddressFinder(database: Database) {
  return coalesce<{ tenantId: string; network: string; address: string }, FoundWallet>(
    ({ tenantId, network, address }) => `${tenantId} ${network} ${address}`,
    async (wanted) => {
      const rows = await database.query<FoundRow & { name: string; tenantId: string }>(sql`
        SELECT c.tenant_id || ' ' || c.network || ' ' || c.address AS name, c.tenant_id AS "tenantId", ${foundColumns}
        FROM unnest(${wanted.map(({ tenantId }) => tenantId)}::uuid[], ${wanted.map(({ network }) => network)}::text[],
          ${wanted.map(({ address }) => address)}::text[]) AS wanted (tenant_id, network, address)
        JOIN chain_wallets c USING (tenant_id, network, address)
        JOIN wallets w ON w.tenant_id = c.tenant_id AND w.id = c.wallet_id
      `);
      // One whose address was changed is not the wallet that has it.
      return new Map(
        rows.flatMap(({ name, tenantId, ...row }) => {
          const wallet = readFound(database, tenantId, row);
          return wallet.address === null ? [] : [[name, wallet] as const];
        }),
      );
    },
    lookUpBatchMax,
  );
}

function conditions({ purpose, state, network, frozen }: WalletFilter): Statement[] {
  return [
    ...(purpose === undefined ? [] : [sql`s.purpose = ${purpose}`]),
    ...(state === undefined ? [] : [sql`s.state = ${state}`]),
    ...(network === undefined ? [] : [sql`s.network = ${network}`]),
    ...(frozen === undefined ? [] : [sql`s.frozen = ${frozen}`]),
  ];
}

export async function insertWallet(
  tx: Queryable,
  wallet: Wallet,
  request?: { key: string; hash: string },
): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO wallets
      (tenant_id, id, name, purpose, network, role, state, frozen, version, idempotency_key, request_hash, created_by, created_at,
       updated_at)
    VALUES
      (${wallet.tenantId}, ${wallet.id}, ${wallet.name}, ${wallet.purpose}, ${wallet.network}, ${wallet.role}, ${wallet.state},
       ${wallet.frozen}, ${wallet.version}, ${request?.key ?? null},
       decode(${request?.hash ?? null}, 'hex'), ${wallet.createdBy}, ${wallet.createdAt}, ${wallet.updatedAt})
    ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
    RETURNING id
  `);
  return inserted.length === 1;
}

async function readWallet(
  source: KeyedQueryable,
  tenantId: string,
  id: string,
): Promise<WalletWithBalances | undefined> {
  const [row] = await source.query<WalletRow>(sql`
    SELECT ${walletColumns}, ${balancesColumn}, ${sendingColumn} FROM wallets w WHERE tenant_id = ${tenantId} AND id = ${id}
  `);
  return row && withBalances(source, row);
}

/** Only wallets of chains have an address; the others cost no look-up. Served by the primary key. */
function ofChainWallet(columns: Statement): Statement {
  return sql`CASE WHEN w.network <> 'book' THEN (
    SELECT ${columns} FROM chain_wallets c WHERE c.tenant_id = w.tenant_id AND c.wallet_id = w.id) END`;
}

const foundColumns = sql`w.id, w.purpose, w.network, w.state, ${ofChainWallet(sealedAddress)} AS sealed`;

const isFrozen = sql`(w.frozen OR ${isStopped(sql`w.tenant_id`, sql`w.id`)})`;

const walletColumns = sql`
  w.tenant_id AS "tenantId", w.id, w.name, w.purpose, w.network, w.role, w.state, ${isFrozen} AS frozen,
  w.frozen_reason AS "frozenReason", w.version,
  w.created_by AS "createdBy", w.created_at AS "createdAt", w.updated_at AS "updatedAt",
  ${ofChainWallet(sealedAddress)} AS sealed
`;

/**
 * Amounts go through JSON as strings: they do not fit into a JavaScript number. What is on a chain is served by the primary key of
 * chain_holdings and by chain_deposits_incoming.
 */
const balancesColumn = sql`
  (SELECT coalesce(jsonb_agg(jsonb_build_object('asset', a.asset, 'available', a.available::text, 'held', a.held::text,
      'incoming', CASE WHEN w.network <> 'book' THEN (
        SELECT coalesce(sum(d.amount), 0)::text FROM chain_deposits d
        WHERE d.tenant_id = w.tenant_id AND d.wallet_id = w.id AND d.asset = a.asset AND d.state = 'seen') END,
      'onChain', h.on_chain::text, 'blockNumber', h.block_number)
      ORDER BY a.asset), '[]')
    FROM ledger_accounts a
    LEFT JOIN LATERAL (
      SELECT h.on_chain, h.block_number FROM chain_holdings h
      WHERE w.network <> 'book' AND h.tenant_id = w.tenant_id AND h.wallet_id = w.id AND h.asset = a.asset) AS h ON true
    WHERE a.tenant_id = w.tenant_id AND a.account_id = w.id) AS balances
`;

const blockedBy = sql`
  CASE WHEN c.halted_reason IS NOT NULL THEN 'wallet_halted'
    WHEN EXISTS (SELECT FROM networks n WHERE n.network = c.network AND n.state = 'halted') THEN 'network_halted'
    WHEN NOT ${isConfirmedOf(sql`c`)} THEN 'unconfirmed'
    WHEN NOT EXISTS (SELECT FROM networks n WHERE n.network = c.network AND n.expires_at > now()) THEN 'network_waiting'
    WHEN EXISTS (SELECT FROM networks n WHERE n.network = c.network AND n.unreachable_since IS NOT NULL) THEN 'network_unreachable' END`;

/** What is in flight has nonces from the final one on, at most some hundred. Served by the unique key on the nonce and primary keys. */
const sendingColumn = sql`
  ${ofChainWallet(sql`(
    SELECT jsonb_build_object('nextNonce', c.next_nonce, 'finalNonce', c.final_nonce, 'haltedReason', c.halted_reason,
      'blockedBy', ${blockedBy},
      'baseFee', (SELECT n.base_fee::text FROM networks n WHERE n.network = c.network), 'inFlight', count(*), 'oldestAt', min(p.assigned_at))
    FROM chain_payments p
    WHERE p.tenant_id = c.tenant_id AND p.wallet_id = c.wallet_id AND p.nonce >= c.final_nonce)`)} AS sending
`;

function readPlain(source: KeyedQueryable, { sealed, ...row }: PlainRow): Wallet {
  const { tenantId, id: walletId } = row;
  return { ...row, address: readAddress(source, { tenantId, walletId }, sealed)?.shown ?? null };
}

function readFound(source: KeyedQueryable, tenantId: string, { sealed, ...row }: FoundRow): FoundWallet {
  return { ...row, address: readAddress(source, { tenantId, walletId: row.id }, sealed)?.address ?? null };
}

function withBalances(source: KeyedQueryable, { balances, sending, ...row }: WalletRow): WalletWithBalances {
  return {
    ...readPlain(source, row),
    balances: balances.map(readBalance),
    sending: sending === null ? null : readSending(sending),
  };
}

function readSending({ oldestAt, baseFee, ...sending }: SendingRow): WalletSending {
  return {
    ...sending,
    oldestAt: oldestAt === null ? null : new Date(oldestAt),
    baseFee: baseFee === null ? null : BigInt(baseFee),
  };
}

function readBalance({ asset, available, held, incoming, onChain, blockNumber }: BalanceRow): WalletBalance {
  const chain =
    incoming === null
      ? null
      : {
          incoming: BigInt(incoming),
          confirmed:
            onChain === null || blockNumber === null ? null : { amount: BigInt(onChain), blockNumber },
        };
  return { asset, available: BigInt(available), held: BigInt(held), chain };
}
