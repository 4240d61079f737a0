import type { Signer } from "../../app/chain/signer.js";
import { shownPaymentId } from "../../app/transactions/approvals/present-approval.js";

export interface GivenUpNonce {
  nonce: number;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

interface GiveUpDeps {
  signer: Pick<Signer, "sign" | "signedFrom">;
  /** What the database has about a transaction of the tenant; undefined if it has ended or is not there. */
  findOpen: (transactionId: string) => Promise<{ hasNonce: boolean } | undefined>;
  requestCancel: (transactionId: string) => Promise<void>;
}

export type GiveUpOutcome = { transactionId: string; bytes: string; hash: string } | { refused: string };

/**
 * Has the signer sign an empty transaction with a nonce that it has bound to a transaction which the database no longer has, or which is open and
 * has no nonce there: that one is cancelled. Only one transaction with a nonce is executed, so nothing is paid twice, and the wallet can be adopted.
 * A refusal is a sentence for the operator.
 */
export async function giveUpNonce(
  { signer, findOpen, requestCancel }: GiveUpDeps,
  wallet: { tenantId: string; walletId: string; network: string; address: string },
  { nonce, ...terms }: GivenUpNonce,
): Promise<GiveUpOutcome> {
  const { tenantId, walletId, network, address } = wallet;
  const [answer] = await signer.signedFrom([{ tenantId, walletId, network, nonce }]);
  if (answer === undefined || "refused" in answer)
    return { refused: answer?.reason ?? "The signer has not answered." };
  const transactionId = answer.find((one) => one.nonce === nonce)?.transactionId;
  if (transactionId === undefined)
    return { refused: `The signer has signed nothing with nonce ${nonce} of ${address}.` };
  const open = await findOpen(transactionId);
  if (open?.hasNonce === true)
    return {
      refused: `The nonce ${nonce} of ${address} belongs to ${shownPaymentId(transactionId)}, which is in the database, has a nonce and has not ended. Cancel it, if it must not be paid.`,
    };
  // Before anything is signed: the signer signs no payment after an empty transaction.
  if (open !== undefined) await requestCancel(transactionId);
  const [signed] = await signer.sign([
    {
      ...{ tenantId, walletId, network, address, transactionId, nonce, ...terms },
      ...{ purpose: "cancellation", contract: null, destination: address, amount: 0n },
    },
  ]);
  if (signed === undefined || "refused" in signed)
    return { refused: signed?.reason ?? "The signer has not answered." };
  return { transactionId, ...signed };
}
