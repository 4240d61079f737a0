import { decideOnBalances } from "@bursar/domain";
import { aheadCodes } from "../../../src/app/chain/halt.js";
import { accountsOf } from "../../../src/app/transactions/settlement.js";
import type { ModelChain } from "../../harness/chain/model-chain.js";
import { chainDoubts, chainPayments, chainWallets } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { createSimulatedSettlementStore } from "../database/simulated-settlement.js";
import { keyOf, openTransactions } from "../database/simulated-tables.js";
import { createSimulatedTransactionStore } from "../database/simulated-transactions.js";
import { isInjected } from "../world/present-answers.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";
import { rowsOf } from "./audit-chain.js";
import { isUnsigned } from "./chain-stops.js";
import { drawPayment, type OwnWallet } from "./chain-wallets.js";

interface ClientsDeps {
  database: SimulatedDatabase;
  chain: ModelChain;
  scheduler: Scheduler;
  random: Random;
  wallets: readonly OwnWallet[];
  /** Does it. */
  actor: Actor;
  /** Waits. It is never killed. */
  outside: Actor;
  count: (what: string) => void;
  newUuid: () => string;
  report: (error: unknown) => void;
  neverPaid: Set<string>;
  cancelsAtOnce: boolean;
}

export interface ChainClients {
  /** Requests a payment, and perhaps its cancellation or speed-up later. */
  pay: () => Promise<void>;
  /** Begins what was accepted before the database went back. */
  beginAgain: () => Promise<void>;
  /** Repeats what the world has made fail. */
  insist: <T>(work: () => Promise<T>) => Promise<T>;
}

const lookAgainAfterMs = 500;

/** Those who request payments, with the parts of the service that accept and begin them. */
export function createChainClients(deps: ClientsDeps): ChainClients {
  const { database, chain, scheduler, random, wallets, actor, outside, count, newUuid, report } = deps;
  const { neverPaid, cancelsAtOnce } = deps;
  const settlements = createSimulatedSettlementStore(database, actor);
  const transactions = createSimulatedTransactionStore(database, actor, { generation: () => 0 });

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

  const isBehind = (tenantId: string, walletId: string) => {
    const wallet = rowsOf(database, chainWallets).find(
      (one) => one.tenantId === tenantId && one.walletId === walletId,
    );
    if (wallet === undefined) return false;
    const [doubts = 0] = rowsOf(database, chainDoubts);
    const isConfirmed = wallet.confirmedEpoch >= database.epoch() + doubts;
    return !isConfirmed || aheadCodes.some((code) => code === wallet.haltedCode);
  };

  const isAccepted = (tenantId: string, id: string) =>
    rowsOf(database, openTransactions).some(
      (one) => one.tenantId === tenantId && one.id === id && one.state === "accepted",
    );

  /** The engine looks at all that is accepted: also at what could not end, and at what another SQL transaction had locked. */
  const lookAgain = (tenantId: string, id: string) =>
    scheduler.after(
      outside,
      lookAgainAfterMs,
      "the engine",
      () => void insist(() => begin(tenantId, id)).catch(report),
    );

  const begin = (tenantId: string, id: string): Promise<void> =>
    settlements.unitOfWork(async (unit) => {
      const [claimed] = await unit.claimAgain([{ tenantId, id }]);
      if (claimed === undefined) {
        if (isAccepted(tenantId, id)) lookAgain(tenantId, id);
        return;
      }
      const balances = await unit.lockAccounts(accountsOf([claimed]));
      const begun = decideOnBalances(claimed, { kind: "begin" }, balances);
      // As the engine: what may have been made does not end.
      if (typeof begun === "string" && isBehind(tenantId, claimed.sourceAccountId)) {
        lookAgain(tenantId, id);
        return;
      }
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
        if (!cancelsAtOnce || claimed.state === "confirming") {
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
    if (isStopped === true) neverPaid.add(id);
  }

  const speedUp = (tenantId: string, id: string) =>
    insist(() =>
      database.query(actor, "speed up", async (rows) => {
        const row = rows.get(chainPayments, keyOf(tenantId, id));
        if (row?.stage !== "signed") return;
        await rows.lock(chainPayments, keyOf(tenantId, id));
        const current = rows.get(chainPayments, keyOf(tenantId, id));
        if (current?.stage !== "signed") return;
        count("speed-ups");
        rows.put(chainPayments, keyOf(tenantId, id), { ...current, speedUpRequested: true });
      }),
    );

  return {
    ...{ pay, insist },
    beginAgain: async () => {
      for (const { tenantId, id, state } of rowsOf(database, openTransactions))
        if (state === "accepted") await insist(() => begin(tenantId, id));
    },
  };
}
