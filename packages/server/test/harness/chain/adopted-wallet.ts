import { randomUUID } from "node:crypto";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import { giveUpNonce } from "../../../src/rails/evm/give-up-nonce.js";
import {
  findOpen,
  isFreeNonce,
  recordGivenUp,
  resumeWallet,
  stateNonce,
} from "../../../src/store/chain/resume-chain.js";
import { listBoundNonces } from "../../../src/store/chain/wallets/bound-nonces.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../eventually.js";
import type { ChainWallet } from "./chain-service.js";
import type { DrivenChain } from "./driven-chain.js";
import { modelNetwork } from "./model-network.js";
import type { createRestoredChain } from "./restored-chain.js";

/** What an operator does with a wallet after a restore: `bursar wallet give-up` and `bursar wallet adopt`. */
export function createAdoptedWallet(driven: DrivenChain, restored: ReturnType<typeof createRestoredChain>) {
  const giveUp = (wallet: ChainWallet, maxFeePerGas = 500n, nonce = 0) => {
    const { tenantId, walletId } = wallet;
    const entry = describeAct({ by: "operator", tenantId }, "wallet.give_up", walletId, new Date());
    return giveUpNonce(
      {
        signer: driven.honest.signer,
        findOpen: (id) => findOpen(driven.keyed, { tenantId, id }),
        record: async (openId) => {
          await recordGivenUp(driven.keyed, tenantId, openId, entry);
          driven.wake();
        },
        isFree: (free) => isFreeNonce(driven.keyed, wallet, free),
        listBound: () => listBoundNonces(driven.keyed, [wallet]),
        newUuid: randomUUID,
      },
      { ...wallet, network: modelNetwork },
      { nonce, gasLimit: 21_000n, maxFeePerGas, maxPriorityFeePerGas: 5n },
    );
  };

  const readWallet = async ({ walletId }: ChainWallet) => {
    const [row] = await driven.database.query<{
      code: string | null;
      reason: string | null;
      stated: string | null;
      finalNonce: string;
    }>(sql`
      SELECT halted_code AS code, halted_reason AS reason, stated_nonce AS stated, final_nonce AS "finalNonce"
      FROM chain_wallets WHERE wallet_id = ${walletId}
    `);
    if (row === undefined) throw new Error("there is no such wallet");
    return row;
  };

  async function adopt(wallet: ChainWallet, nonce = 1): Promise<void> {
    const { tenantId, walletId } = wallet;
    const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", walletId, new Date());
    await stateNonce(driven.keyed, wallet, { nonce, paysWaiting: true }, entry);
    await driven.settle();
  }

  /** Adopted, and going on, but not confirmed if the signer knows more. */
  async function untilResumed(wallet: ChainWallet, nonce = 1): Promise<void> {
    await adopt(wallet, nonce);
    await eventually(
      async () => {
        driven.mine();
        return await readWallet(wallet);
      },
      ({ code, finalNonce }) => code === null && Number(finalNonce) === nonce,
    );
  }

  return {
    giveUp,
    readWallet,
    adopt,
    resume: async (wallet: ChainWallet): Promise<void> => {
      const { tenantId, walletId } = wallet;
      const entry = describeAct({ by: "operator", tenantId }, "wallet.resume", walletId, new Date());
      await resumeWallet(driven.keyed, wallet, entry);
      driven.wake();
    },
    /** The signer has signed a transaction, and the wallet has not been confirmed since. Returns the bytes. */
    forget: async (wallet: ChainWallet, transactionId: string, nonce = 0): Promise<string> => {
      const bytes = await restored.signLost(wallet, transactionId, nonce);
      await driven.database.query(
        sql`UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id = ${wallet.walletId}`,
      );
      return bytes;
    },
    /** Sends what the operator was given. */
    sendGivenUp: async (wallet: ChainWallet): Promise<void> => {
      const outcome = await giveUp(wallet);
      driven.chain.send("bytes" in outcome ? outcome.bytes : JSON.stringify(outcome));
    },
    untilHalted: async (wallet: ChainWallet, code = "NONCE_USED_ELSEWHERE"): Promise<void> => {
      await driven.settle();
      await eventually(
        () => readWallet(wallet),
        (one) => one.code === code,
      );
    },
    /** The statement of the operator is answered: the wallet stays halted. Returns the reason. */
    refuseAdoption: async (wallet: ChainWallet, nonce: number): Promise<string | null> => {
      await adopt(wallet, nonce);
      const { reason } = await eventually(
        () => readWallet(wallet),
        ({ code, stated }) => code === null || stated === null,
      );
      return reason;
    },
    /** What was found in a block ends with the next one, and the wallet is compared again then. */
    untilAdopted: async (wallet: ChainWallet, nonce = 1): Promise<void> => {
      await untilResumed(wallet, nonce);
      await restored.untilConfirmed(wallet);
    },
    untilResumed,
    /** No node estimates anything, so that what has begun does not get a nonce. */
    estimateNothing: (): void => {
      driven.ports.node = {
        ...driven.honest.node,
        estimate: async (drafts) => drafts.map(() => ({ refused: "UNAVAILABLE" })),
      };
    },
  };
}
