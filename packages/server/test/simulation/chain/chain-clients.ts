import { type createUuidV7Source, decideOnBalances } from "@bursar/domain";
import { accountsOf } from "../../../src/app/transactions/settlement.js";
import { type ModelChain, modelCoin } from "../../harness/chain/model-chain.js";
import { chainPayments, networks } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { createSimulatedSettlementStore } from "../database/simulated-settlement.js";
import { keyOf } from "../database/simulated-tables.js";
import { createSimulatedTransactionStore } from "../database/simulated-transactions.js";
import { isInjected } from "../world/present-answers.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";
import { isUnsigned } from "./chain-stops.js";
import { drawPayment, type OwnWallet, outsideAddress, usdc } from "./chain-wallets.js";

export interface ChainClientsDeps {
  chain: ModelChain;
  database: SimulatedDatabase;
  scheduler: Scheduler;
  random: Random;
  wallets: readonly OwnWallet[];
  outside: Actor;
  newUuid: ReturnType<typeof createUuidV7Source>;
  count: (what: string) => void;
  report: (error: unknown) => void;
  /** A planted bug: a cancellation ends a payment at once. */
  cancelsAtOnce: boolean;
  /** Called with a payment that was cancelled before anything was signed for it. */
  onNeverPaid: (id: string) => void;
  /** How often it is tried whether a network has begun. */
  retryEveryMs: number;
}

/** Clients that pay, cancel and speed up, the engine that begins their payments, and outsiders that send deposits. */
export function createChainClients(deps: ChainClientsDeps) {
  const { chain, database, scheduler, random, wallets, outside, newUuid, count, report } = deps;
  const engine: Actor = { name: "engine", isAlive: true };
  const settlements = createSimulatedSettlementStore(database, engine);
  const transactions = createSimulatedTransactionStore(database, engine, { generation: () => 0 });

  /** Repeats what the world has made fail. */
  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isInjected(error)) throw error;
      }
    }
  }

  async function pay(): Promise<void> {
    const source = random.pick(wallets);
    const accepted = drawPayment(source, wallets, random, newUuid(), scheduler.now());
    const { tenantId, id } = accepted;
    await insist(() => transactions.acceptTransactions([accepted]));
    if (random.chance(0.12)) chain.revert(id);
    await insist(() => begin(tenantId, id));
    if (random.chance(0.25))
      scheduler.after(outside, random.between(1, 1500), "a cancellation", () => void cancel(tenantId, id));
    if (random.chance(0.15))
      scheduler.after(outside, random.between(1, 1500), "a speed-up", () => void speedUp(tenantId, id));
  }

  const begin = (tenantId: string, id: string) =>
    settlements.unitOfWork(async (unit) => {
      const [claimed] = await unit.claimAgain([{ tenantId, id }]);
      if (claimed === undefined) return;
      const balances = await unit.lockAccounts(accountsOf([claimed]));
      const begun = decideOnBalances(claimed, { kind: "begin" }, balances);
      const failure = { kind: "fail", failure: "INSUFFICIENT_FUNDS", fee: null } as const;
      const decision = typeof begun === "string" ? decideOnBalances(claimed, failure, balances) : begun;
      if (typeof decision === "string") throw new Error(`beginning is ${decision}`);
      const occurredAt = new Date(scheduler.now());
      await unit.write(
        [{ transaction: claimed, decision, occurredAt, dueAt: null, judgement: null }],
        balances,
      );
    });

  async function cancel(tenantId: string, id: string): Promise<void> {
    count("cancellations");
    const isStopped = await insist(() =>
      settlements.unitOfWork(async (unit) => {
        const claimed = await unit.claimPayment({ tenantId, id });
        if (claimed === undefined) return false;
        if (!deps.cancelsAtOnce || claimed.state === "confirming") {
          await unit.requestCancel({ tenantId, id }, tenantId);
          // Its row is locked, so that no bytes are stored for it meanwhile.
          return isUnsigned(database, tenantId, id);
        }
        const balances = await unit.lockAccounts(
          [
            ...accountsOf([claimed]),
            ...(claimed.feeHold === null
              ? []
              : [{ tenantId, accountId: claimed.sourceAccountId, asset: claimed.feeHold.asset }]),
          ].filter(
            (one, index, all) =>
              all.findIndex((key) => key.accountId === one.accountId && key.asset === one.asset) === index,
          ),
        );
        const decision = decideOnBalances(claimed, { kind: "cancel", fee: null }, balances);
        if (typeof decision === "string") return false;
        const occurredAt = new Date(scheduler.now());
        await unit.write(
          [{ transaction: claimed, decision, occurredAt, dueAt: null, judgement: null }],
          balances,
        );
        return false;
      }),
    ).catch(report);
    if (isStopped === true) deps.onNeverPaid(id);
  }

  const speedUp = (tenantId: string, id: string) =>
    insist(() =>
      database.query(engine, "speed up", async (rows) => {
        const row = rows.get(chainPayments, keyOf(tenantId, id));
        if (row?.stage !== "signed") return;
        await rows.lock(chainPayments, keyOf(tenantId, id));
        const current = rows.get(chainPayments, keyOf(tenantId, id));
        if (current?.stage !== "signed") return;
        count("speed-ups");
        rows.put(chainPayments, keyOf(tenantId, id), { ...current, speedUpRequested: true });
      }),
    );

  function deposit(): void {
    // A network begins at its final block, before anything is paid on it.
    if ((database.tables.get(networks.name)?.size ?? 0) === 0) {
      scheduler.after(outside, deps.retryEveryMs, "a deposit", deposit);
      return;
    }
    const to = () => random.pick(wallets).address;
    const transfers = Array.from({ length: random.between(1, 3) }, (_, index) => ({
      asset: index === 0 && random.chance(0.5) ? modelCoin : usdc,
      ...{ from: outsideAddress, to: to(), amount: BigInt(random.between(0, 400)) },
    }));
    const hidden = random.chance(0.2)
      ? [{ asset: modelCoin, from: outsideAddress, to: to(), amount: BigInt(random.between(1, 900)) }]
      : [];
    chain.pay(transfers, hidden);
  }

  return {
    ...{ pay, deposit, insist, actor: engine },
    begin: (tenantId: string, id: string) => insist(() => begin(tenantId, id)),
  };
}
