import { randomUUID } from "node:crypto";
import type { ClientOrigin } from "../../../src/app/audit/audit-entry.js";
import type { ActivePolicy } from "../../../src/app/policy/policy.js";
import { createTransactionCanceller } from "../../../src/app/transactions/cancel-transaction.js";
import { createChangeHub } from "../../../src/app/transactions/change-hub.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { makeTokenKey } from "../../../src/credentials/token-keys.js";
import { createBatchSettler } from "../../../src/engine/settle-batch.js";
import { createEvmRail } from "../../../src/rails/evm/evm-rail.js";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { currentEpoch } from "../../../src/store/chain/wallets/confirmed-wallets.js";
import { isDatabaseUnavailable } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { recoverDatabase } from "../../../src/store/recovery/recover-database.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { eventually } from "../eventually.js";
import type { ChainWallet } from "./chain-service.js";
import { type DrivenChain, outside } from "./driven-chain.js";
import { modelAssets, modelChainNetwork, modelNetwork } from "./model-network.js";

/** A chain service after `bursar recover`: payments without a nonce may have been made in the commits that were lost. */
export function createRestoredChain(driven: DrivenChain) {
  const settlementDeps = () => ({
    settlements: createSettlementStore(
      driven.keyed,
      createEventLog({ publish: () => undefined }),
      modelAssets,
    ),
    rails: { get: () => createEvmRail(modelChainNetwork) },
    changes: createChangeHub(nodeTimers),
    now: Date.now,
  });

  async function recover(): Promise<void> {
    const tokenKey = makeTokenKey(
      createSealing(createKeyring([Buffer.alloc(32, 7)])),
      randomUUID(),
      Date.now(),
    );
    const recovery = { key: tokenKey.id, lift: 1, past: 0, tokenKey, now: new Date() };
    // What runs across the change fails, as in a service.
    await eventually(
      () => recoverDatabase(driven.keyed, recovery).catch(ignoreChange),
      (epoch) => epoch?.isRepeated === true,
    );
    // The change is noticed here, and not by what a test does next.
    await driven.keyed.identify().catch(ignoreChange);
  }

  const isConfirmed = async ({ walletId }: ChainWallet) => {
    const [row] = await driven.database.query<{ is: boolean }>(sql`
      SELECT confirmed_epoch = ${currentEpoch} AS is FROM chain_wallets WHERE wallet_id = ${walletId}
    `);
    return row?.is;
  };

  return {
    settlementDeps,
    recover,
    isConfirmed,
    untilConfirmed: (wallet: ChainWallet) => eventually(() => isConfirmed(wallet), Boolean),
    /** As its client does. */
    cancel: ({ tenantId }: ChainWallet, id: string) => {
      const act = createTransactionCanceller({
        ...settlementDeps(),
        stopInAnyCase: (_, stop) => stop.act(),
        read: async () => ({ refused: "NOT_FOUND" }),
        onRequested: driven.wake,
        audit: { recordAct: () => undefined },
      });
      return act({ principal: { tenantId, clientId: tenantId } } as ClientOrigin, id);
    },
    /** The engine looks at a payment, with the policy, if that is given, of its tenant. */
    look: async ({ tenantId }: ChainWallet, id: string, policy?: ActivePolicy["policy"]) => {
      const active = policy === undefined ? [] : [[tenantId, { version: 1, policy, guards: [] }] as const];
      const settle = createBatchSettler({
        ...settlementDeps(),
        policies: { within: () => ({ loadAll: async () => new Map(active), peek: () => undefined }) },
        ...{ isUnavailable: () => false, isTimeout: () => false, isLockTimeout: () => false },
        onFailure: (_, error) => driven.errors.push(error),
        onTampered: () => driven.errors.push(new Error("a payment was tampered with")),
      });
      await settle(async (unit) => [await unit.claimPayment({ tenantId, id })].flatMap((one) => one ?? []), {
        ...{ lockTimeoutMs: 1000, onStalled: () => undefined, onUnknown: () => undefined },
      });
      driven.wake();
    },
    /** The signer has signed a payment of 20 in a commit that is lost. Returns the bytes. */
    signLost: async ({ tenantId, walletId, address }: ChainWallet, transactionId: string, nonce = 0) => {
      const [signed] = await driven.honest.signer.sign([
        {
          ...{ tenantId, walletId, address, transactionId, network: modelNetwork, nonce },
          ...{ purpose: "payment", contract: null, destination: outside, amount: 20n, gasLimit: 21_000n },
          ...{ maxFeePerGas: 400n, maxPriorityFeePerGas: 4n },
        },
      ]);
      if (signed === undefined || "refused" in signed) throw new Error("the signer has refused it");
      return signed.bytes;
    },
  };
}

function ignoreChange(error: unknown): undefined {
  if (!isDatabaseUnavailable(error)) throw error;
  return undefined;
}
