import { randomBytes } from "node:crypto";
import { type AssetRegistry, createUuidV7Source, decideOnBalances, externalAccountId } from "@bursar/domain";
import type { IntegrityKeys } from "../../../src/app/access/integrity-keys.js";
import type { ChainNetwork } from "../../../src/app/chain/chain-network.js";
import type { ChainNode } from "../../../src/app/chain/chain-node.js";
import type { ChainStore } from "../../../src/app/chain/chain-store.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import { accountsOf } from "../../../src/app/transactions/settlement.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { createEvmDriver, type EvmDriver } from "../../../src/rails/evm/driver/evm-driver.js";
import { nodeTimers, type Timers } from "../../../src/runtime/loops/timers.js";
import { createChainStore } from "../../../src/store/chain/chain-store.js";
import { currentEpoch } from "../../../src/store/chain/wallets/confirmed-wallets.js";
import { macOfAddress } from "../../../src/store/chain/wallets/wallet-integrity.js";
import { type Database, isDatabaseUnavailable, withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { sealOpenTransactions } from "../database/seal-rows.js";
import { createTestDatabase, type TestDatabase } from "../database/test-database.js";
import { createModelChain, type ModelChain, verifyModelBytes } from "./model-chain.js";
import { modelAssets, modelChainNetwork } from "./model-network.js";
import { createModelNode } from "./model-node.js";
import { createModelSigner } from "./model-signer.js";

export interface ChainWallet {
  tenantId: string;
  walletId: string;
  address: string;
}

interface ChainState {
  state: string;
  failure: string | null;
  /** The states that it has had. */
  states: string[];
}

/** What a driver gets instead of the service's own. */
interface GivenPorts {
  node?: ChainNode;
  signer?: Partial<Signer>;
  store?: ChainStore;
  timers?: Pick<Timers, "after">;
  leaseMs?: number;
  monotonicMs?: () => number;
}

/** A database with the driver of a model chain, and nothing else of the service. */
export interface ChainService {
  database: TestDatabase;
  /** The same, with the keys that authenticate rows. */
  keyed: Database;
  keys: IntegrityKeys;
  chain: ModelChain;
  node: ChainNode;
  store: ChainStore;
  errors: unknown[];
  /** Why payments wait for coins, or for the signer. */
  shortages: string[];
  createTenant: () => Promise<string>;
  createWallet: (tenantId: string) => Promise<ChainWallet>;
  /** Accepts a payment, which the engine has not seen yet. Returns its id. */
  accept: (source: ChainWallet, to: string | ChainWallet, asset: string, amount: bigint) => Promise<string>;
  /** Begins a payment, as the engine does. */
  begin: (wallet: ChainWallet, id: string) => Promise<void>;
  /** Lets a payment wait for approval, with what it pays held, as the engine does. */
  askApproval: (wallet: ChainWallet, id: string) => Promise<void>;
  /** Accepts a payment and begins it. */
  pay: (source: ChainWallet, to: string | ChainWallet, asset: string, amount: bigint) => Promise<string>;
  requestCancel: (wallet: ChainWallet, id: string) => Promise<void>;
  read: (id: string) => Promise<ChainState>;
  /** What the books say: available, held and gathered. */
  booked: (wallet: ChainWallet, asset: string) => Promise<bigint>;
  deposits: (wallet: ChainWallet) => Promise<ChainState[]>;
  /** What the audit log says about halts. */
  halts: () => Promise<{ action: string; code: string; object: string }[]>;
  startDriver: (given?: GivenPorts) => EvmDriver;
  /** One that is never stopped: its ports stop answering. */
  startKilled: (given: GivenPorts) => void;
  /** There is something new to do. */
  wake: () => void;
  /** Stops the drivers, which release their leases; others can be started. */
  stopDrivers: () => Promise<void>;
  stop: () => Promise<void>;
}

/** What a real chain and a real signer take the place of. */
export interface ChainParts {
  network: ChainNetwork;
  assets: AssetRegistry;
  node: ChainNode;
  signer: Signer;
  verifySigned: typeof verifyModelBytes;
  /** Wraps the database, to see its statements. */
  record: (database: Database) => Database;
}

export async function startChainService(parts: Partial<ChainParts> = {}): Promise<ChainService> {
  const { network = modelChainNetwork, assets = modelAssets, verifySigned = verifyModelBytes } = parts;
  const direct = await createTestDatabase();
  const keys = createIntegrityKeys(createSealing(createKeyring([Buffer.alloc(32, 7)])));
  const database = withKeys(parts.record?.(direct) ?? direct, keys);
  const log = createEventLog({ publish: () => undefined });
  const store = createChainStore(database, log, assets);
  const settlements = createSettlementStore(database, log, assets);
  const chain = createModelChain();
  const newUuid = createUuidV7Source({ now: Date.now, randomBytes });
  const nodeOptions = {
    ...{ chain, reach: async () => undefined, isAnswerLost: () => false, lag: () => 0 },
    wouldRevert: (destination: string) => destination.endsWith("dead"),
  };
  const node = parts.node ?? createModelNode(nodeOptions);
  const signer = parts.signer ?? createModelSigner(async () => undefined);
  const errors: unknown[] = [];
  const shortages: string[] = [];
  const drivers: EvmDriver[] = [];
  let wallets = 0;

  async function decide(tenantId: string, id: string, kind: "begin" | "ask_approval"): Promise<void> {
    await settlements.unitOfWork(async (unit) => {
      const [claimed] = await unit.claimAgain([{ tenantId, id }]);
      if (claimed === undefined) throw new Error("the payment is not open");
      const balances = await unit.lockAccounts(accountsOf([claimed]));
      const decision = decideOnBalances(claimed, { kind }, balances);
      if (typeof decision === "string") throw new Error(`the payment is ${decision}`);
      const occurredAt = new Date();
      const requirement = { approvals: 1, clientIds: null, expiresAfterSeconds: 3600 };
      const judgement =
        kind === "begin" ? null : { policyVersion: 1, rule: "asks", reason: null, requirement };
      await unit.write([{ transaction: claimed, decision, occurredAt, dueAt: null, judgement }], balances);
    });
  }

  const accept: ChainService["accept"] = async ({ tenantId, walletId }, to, asset, amount) => {
    const id = newUuid();
    const destination =
      typeof to === "string" ? [externalAccountId(network.network), to] : [to.walletId, null];
    await database.query(sql`
      WITH accepted AS (
        INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind,
          source_account_id, destination_account_id, destination_address, created_at)
        VALUES (${tenantId}, ${id}, ${id}, '\\x00', ${tenantId}, 'chain', ${asset}, ${amount.toString()}::numeric,
          ${typeof to === "string" ? "payout" : "transfer"}, ${walletId}, ${destination[0]}, ${destination[1]}, now()))
      INSERT INTO open_transactions (tenant_id, id, state, version) VALUES (${tenantId}, ${id}, 'accepted', 1)
    `);
    await sealOpenTransactions(database, keys, sql`t.id = ${id}`);
    return id;
  };

  async function beginAndWake({ tenantId }: ChainWallet, id: string): Promise<void> {
    await decide(tenantId, id, "begin");
    for (const driver of drivers) driver.wake();
  }

  function startOne(given: GivenPorts): EvmDriver {
    const driver = createEvmDriver({
      network,
      node: given.node ?? node,
      signer: given.signer === undefined ? signer : withOwn(given.signer, signer),
      store: given.store ?? store,
      recorder: { assets, newUuid, now: Date.now, onChanged: () => undefined },
      ...{ verifySigned, isUnavailable: isDatabaseUnavailable },
      ...{ holder: newUuid(), leaseMs: given.leaseMs ?? 5000, pollEveryMs: 5 },
      ...{ onError: (error) => errors.push(error), onLost: () => undefined },
      onCompared: (failure) => failure !== undefined && errors.push(failure),
      onShort: ({ reason }) => shortages.push(reason),
      onDoubted: () => shortages.push("all wallets are doubted"),
      monotonicMs: given.monotonicMs ?? (() => performance.now()),
      timers: given.timers ?? nodeTimers,
    });
    driver.start();
    return driver;
  }

  async function stopDrivers(): Promise<void> {
    for (const driver of drivers.splice(0)) await driver.stop();
  }

  const readStates = (where: ReturnType<typeof sql>) =>
    database.query<ChainState>(sql`
      SELECT coalesce((array_agg(e.state ORDER BY e.version DESC) FILTER (WHERE e.state IS NOT NULL))[1], 'accepted') AS state,
        max(e.failure_code) AS failure,
        coalesce(array_agg(e.state ORDER BY e.version) FILTER (WHERE e.state IS NOT NULL), '{}') AS states
      FROM transactions t LEFT JOIN events e ON e.tenant_id = t.tenant_id AND e.subject_id = t.id
      WHERE ${where} GROUP BY t.tenant_id, t.id ORDER BY t.id
    `);

  return {
    ...{ database: direct, keyed: database, keys, chain, node, store, errors, shortages },
    createTenant: async () => {
      const id = newUuid();
      await database.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${id}, 'chain', now())`);
      return id;
    },
    createWallet: async (tenantId) => {
      const walletId = newUuid();
      wallets += 1;
      const wallet = { tenantId, walletId, network: network.network };
      const [given] = parts.signer === undefined ? [] : await signer.addressesOf([wallet]);
      const address = given ?? `0x${wallets.toString(16).padStart(8, "0").padStart(40, "a")}`;
      await database.query(sql`
        INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
        VALUES (${tenantId}, ${walletId}, 'chain', 'treasury', ${network.network}, 'active', 2, now(), now())
      `);
      const { keyId, mac } = macOfAddress(keys, { ...wallet, address, shown: address });
      await database.query(sql`
        INSERT INTO chain_wallets (tenant_id, wallet_id, network, address, shown, key_id, mac, confirmed_epoch)
        VALUES (${tenantId}, ${walletId}, ${network.network}, ${address}, ${address}, ${keyId}, ${mac}, ${currentEpoch})
      `);
      return { tenantId, walletId, address };
    },
    accept,
    begin: beginAndWake,
    askApproval: ({ tenantId }, id) => decide(tenantId, id, "ask_approval"),
    pay: async (source, to, asset, amount) => {
      const id = await accept(source, to, asset, amount);
      await beginAndWake(source, id);
      return id;
    },
    requestCancel: async ({ tenantId }, id) => {
      await settlements.unitOfWork((unit) => unit.requestCancel({ tenantId, id }, tenantId));
      for (const driver of drivers) driver.wake();
    },
    read: async (id) => (await readStates(sql`t.id = ${id}`))[0] as ChainState,
    booked: async ({ tenantId, walletId }, asset) => {
      const [row] = await database.query<{ sum: string }>(sql`
        SELECT coalesce(sum(amount), 0) AS sum FROM (
          SELECT available + held AS amount FROM ledger_accounts
          WHERE tenant_id = ${tenantId} AND account_id = ${walletId} AND asset = ${asset}
          UNION ALL SELECT gathered FROM chain_holdings
          WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} AND asset = ${asset}) AS amounts
      `);
      return BigInt(row?.sum ?? 0);
    },
    deposits: ({ tenantId, walletId }) =>
      readStates(
        sql`t.tenant_id = ${tenantId} AND t.destination_account_id = ${walletId} AND t.kind = 'deposit'`,
      ),
    halts: () =>
      database.query(
        sql`SELECT action, code, object FROM audit_entries WHERE action LIKE '%.halt' ORDER BY occurred_at`,
      ),
    startDriver: (given = {}) => {
      const driver = startOne(given);
      if (given.timers === undefined) drivers.push(driver);
      return driver;
    },
    startKilled: (given) => void startOne(given),
    wake: () => {
      for (const driver of drivers) driver.wake();
    },
    stopDrivers,
    stop: async () => {
      await stopDrivers();
      await direct.drop();
    },
  };
}

/** What is given, also if it changes later, and otherwise the own one. */
function withOwn<T extends object>(given: Partial<T>, own: T): T {
  return new Proxy(own, { get: (_, name) => Reflect.get(given, name) ?? Reflect.get(own, name) });
}
