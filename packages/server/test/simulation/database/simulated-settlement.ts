import { type AccountKey, accountOfParty, timeOfUuidV7 } from "@bursar/domain";
import type {
  ClaimedPayment,
  ClaimedTransaction,
  NewDeposit,
  SettlementStore,
  SettlementUnit,
  TenantClaim,
  TransactionKey,
} from "../../../src/app/transactions/settlement.js";
import type { AcceptedTransaction } from "../../../src/app/transactions/transaction.js";
import { modelAssets } from "../../harness/chain/model-network.js";
import type { Actor } from "../world/scheduler.js";
import { simulatedAssets } from "../world/simulated-assets.js";
import { createAccounts, lockAccounts } from "./simulated-accounts.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import {
  asOpen,
  eventsBySubject,
  keyOf,
  type OpenTransaction,
  openTransactions,
  transactionKeys,
  transactions,
  wallets,
} from "./simulated-tables.js";
import { lockUsage, recordUsage } from "./simulated-usage.js";
import { writeSettlements } from "./simulated-write.js";

/** `store/transactions/settlement.ts`, on the simulated database: the same statements in the same order. */
export function createSimulatedSettlementStore(
  database: SimulatedDatabase,
  actor: Actor,
  dateTotals: DateTotals = (occurredAt) => occurredAt,
): SettlementStore {
  return {
    unitOfWork: (work) => inSimulatedUnit(database, actor, work, dateTotals),
    findWork: ({ limit, afterTenantId = "", acceptedFrom = new Date(0) }) =>
      database.query(actor, "find work", (rows) => {
        const firsts = new Map<string, string>();
        for (const { tenantId, id, state } of rows.all(openTransactions)) {
          const isWaiting = state === "accepted" && timeOfUuidV7(id) >= acceptedFrom.getTime();
          if (isWaiting && tenantId > afterTenantId && !firsts.has(tenantId)) firsts.set(tenantId, id);
        }
        const tenants = [...firsts].sort().map(([tenantId, firstId]) => ({ tenantId, firstId }));
        return { tenants: tenants.slice(0, limit), hasDue: false, hasRetries: false };
      }),
    // Statements that fail here fail by chance, so a transaction that is tried again at once is as good as one that waits.
    recordFailure: async () => undefined,
  };
}

/** One transaction, and another from its beginning if accounts had to be created first. */
export async function inSimulatedUnit<T>(
  database: SimulatedDatabase,
  actor: Actor,
  work: (unit: SettlementUnit, run: RunStatement) => Promise<T>,
  dateTotals: DateTotals = (occurredAt) => occurredAt,
): Promise<T> {
  for (let round = 0; round < roundsMax; round++) {
    try {
      return await database.transaction(actor, (run) => work(createUnit(run, dateTotals), run));
    } catch (error) {
      if (!(error instanceof MissingAccounts)) throw error;
      await database.query(actor, "create accounts", (rows) => createAccounts(rows, error.keys));
    }
  }
  throw new Error("accounts are still missing");
}

const roundsMax = 5;

class MissingAccounts extends Error {
  readonly keys: readonly AccountKey[];

  constructor(keys: readonly AccountKey[]) {
    super("some accounts are not there yet");
    this.keys = keys;
  }
}

/** When something counts; a planted bug has another opinion. */
type DateTotals = (occurredAt: Date) => Date;

function createUnit(run: RunStatement, dateTotals: DateTotals): SettlementUnit {
  return {
    claimAccepted: (tenants, perTenantMax) =>
      run("claim", (rows) => claimAccepted(rows, tenants, perTenantMax)),
    // Nobody has to approve anything in the simulated world: the policy is that of a new tenant.
    claimDue: async () => [],
    claimRetries: async () => [],
    claimAgain: (keys) =>
      run("claim again", (rows) =>
        readPayments(
          rows,
          keys
            .flatMap(({ tenantId, id }) => rows.get(openTransactions, keyOf(tenantId, id)) ?? [])
            .filter(({ state }) => state === "accepted")
            .filter(({ tenantId, id }) => rows.lockUnlessLocked(openTransactions, keyOf(tenantId, id))),
        ),
      ),
    claimPayment: (key) =>
      run("claim one", async (rows) => {
        const open = await lockOpen(rows, key);
        const [claimed] = open === undefined ? [] : await readPayments(rows, [open]);
        return claimed;
      }),
    claimOnRail: (network, keys) => run("claim on rail", (rows) => claimOnRail(rows, network, keys)),
    insertDeposits: (deposits) => run("insert deposits", (rows) => insertDeposits(rows, deposits)),
    requestCancel: (key) =>
      run("request cancel", (rows) => {
        const open = rows.get(openTransactions, keyOf(key.tenantId, key.id));
        if (open !== undefined)
          rows.put(openTransactions, keyOf(key.tenantId, key.id), { ...open, cancelRequested: true });
      }),
    // Chains are ahead in the simulation of a chain only, whose engine asks for it itself.
    listBehindChain: async () => new Set(),
    // The one policy of the simulation is always cached.
    readPolicies: () => Promise.reject(new Error("policies are not simulated")),
    readPolicyVersions: () => Promise.reject(new Error("policies are not simulated")),
    lockUsage: (windows, now) => lockUsage(run, windows, dateTotals(now)),
    lockAccounts: async (keys) => {
      const locked = await run("lock accounts", (rows) => lockAccounts(rows, keys));
      if (locked.size < keys.length) throw new MissingAccounts(keys);
      return locked;
    },
    write: async (settlements, balances) => {
      await writeSettlements(run, settlements, balances);
      await recordUsage(
        run,
        settlements.map((one) => ({ ...one, occurredAt: dateTotals(one.occurredAt) })),
      );
    },
  };
}

async function claimAccepted(
  rows: Rows,
  tenants: readonly TenantClaim[],
  perTenantMax: number,
): Promise<ClaimedPayment[]> {
  const open = rows
    .all(openTransactions)
    .filter(({ state }) => state === "accepted")
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const claimed = tenants.flatMap(({ tenantId, acceptedFrom }) =>
    open
      .filter((one) => one.tenantId === tenantId && timeOfUuidV7(one.id) >= acceptedFrom.getTime())
      .filter(({ id }) => rows.lockUnlessLocked(openTransactions, keyOf(tenantId, id)))
      .slice(0, perTenantMax),
  );
  return await readPayments(
    rows,
    claimed.sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
}

async function lockOpen(rows: Rows, { tenantId, id }: TransactionKey): Promise<OpenTransaction | undefined> {
  const key = keyOf(tenantId, id);
  if (rows.get(openTransactions, key) === undefined) return undefined;
  await rows.lock(openTransactions, key);
  return rows.get(openTransactions, key);
}

async function claimOnRail(
  rows: Rows,
  network: string,
  keys: readonly TransactionKey[],
): Promise<ClaimedTransaction[]> {
  const claimed: ClaimedTransaction[] = [];
  for (const key of keys.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const open = await lockOpen(rows, key);
    if (open === undefined || !["processing", "broadcast", "confirming"].includes(open.state)) continue;
    const first = rows.get(eventsBySubject, keyOf(key.tenantId, key.id, "2"));
    const countedAt = readTransaction(rows, key).parties.kind === "deposit" ? null : first?.occurredAt;
    claimed.push({ ...readOpen(rows, open, network), countedAt: countedAt ?? null } as ClaimedTransaction);
  }
  return claimed;
}

async function insertDeposits(rows: Rows, deposits: readonly NewDeposit[]): Promise<ReadonlySet<string>> {
  const inserted = new Set<string>();
  for (const deposit of deposits.toSorted((a, b) => (a.idempotencyKey < b.idempotencyKey ? -1 : 1))) {
    const { tenantId, id, idempotencyKey, requestHash, reference, amount, createdAt } = deposit;
    if (!(await rows.isFree(transactionKeys, keyOf(tenantId, idempotencyKey)))) continue;
    const asset = simulatedAssets.find(deposit.asset) ?? modelAssets.find(deposit.asset);
    if (asset === undefined) throw new Error(`there is no asset ${deposit.asset}`);
    const accepted: AcceptedTransaction = {
      ...{ tenantId, id, idempotencyKey, requestHash, reference, asset, amount, createdAt },
      ...{
        clientId: deposit.clientId,
        metadata: deposit.metadata,
        expiresAt: null,
        policyVersion: 0,
        policyRule: null,
        needsJudgement: false,
      },
      parties: {
        kind: "deposit",
        source: { address: deposit.sourceAddress },
        destination: { walletId: deposit.destinationAccountId },
      },
    };
    rows.put(transactionKeys, keyOf(tenantId, idempotencyKey), id);
    rows.insert(transactions, keyOf(tenantId, id), accepted);
    rows.insert(openTransactions, keyOf(tenantId, id), asOpen(accepted));
    inserted.add(id);
  }
  return inserted;
}

function readTransaction(rows: Rows, { tenantId, id }: TransactionKey) {
  const accepted = rows.get(transactions, keyOf(tenantId, id));
  if (accepted === undefined) throw new Error("what is open was never accepted");
  return accepted;
}

function readOpen(rows: Rows, open: OpenTransaction, network: string) {
  const { tenantId, id, state, version, feeHold } = open;
  const { clientId, asset, amount, parties, createdAt } = readTransaction(rows, open);
  return {
    ...{ tenantId, id, state, version, feeHold, clientId, asset: asset.code, amount, createdAt, network },
    kind: parties.kind,
    sourceAccountId: accountOfParty(parties.source, network),
    destinationAccountId: accountOfParty(parties.destination, network),
  };
}

async function readPayments(rows: Rows, claimed: readonly OpenTransaction[]): Promise<ClaimedPayment[]> {
  const found: ClaimedPayment[] = [];
  for (const open of claimed) {
    const { expiresAt, createdAt, parties } = readTransaction(rows, open);
    if (parties.kind === "deposit") continue;
    const walletKey = keyOf(open.tenantId, parties.source.walletId);
    await rows.lock(wallets, walletKey, "shared");
    const wallet = rows.get(wallets, walletKey);
    if (wallet === undefined) throw new Error("a wallet is gone");
    found.push({
      market: null,
      ...readOpen(rows, open, wallet.network),
      ...{ expiresAt, requestedAtMs: createdAt.getTime(), needsJudgement: open.needsJudgement },
      ...{ sourceWalletId: wallet.id, sourcePurpose: wallet.purpose, sourceIsFrozen: wallet.frozen },
      // No client is disabled in the simulated world.
      isHeld: false,
      destination: parties.kind === "payout" ? "address" : "own_wallet",
      countedAt: null,
      approval: null,
    } as ClaimedPayment);
  }
  return found;
}
