import type { SignedNonce, Signer } from "../../app/chain/signer.js";
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
  /** Writes to the audit log that a nonce is given up, and requests the cancellation of the transaction that it belongs to, if that is open. */
  record: (openId: string | undefined) => Promise<void>;
  /** Whether the database has given a nonce of the wallet to no payment. */
  isFree: (nonce: number) => Promise<boolean>;
  /** What the signer has said that it has bound payments of the wallet to, when it refused them another nonce. */
  listBound: () => Promise<readonly SignedNonce[]>;
  newUuid: () => string;
}

/** The transaction is null if nothing was signed with the nonce before. */
export type GiveUpOutcome =
  | { transactionId: string | null; bytes: string; hash: string }
  | { refused: string };

/**
 * Has the signer sign an empty transaction with a nonce that it has bound to a transaction which the database no longer has, or which is open and
 * has no nonce there: that one is cancelled. Only one transaction with a nonce is executed, so nothing is paid twice, and the wallet can be adopted.
 * A nonce that it has bound to nothing is a gap if it has bound a later one; the empty transaction is of none then. A refusal is a sentence for
 * the operator.
 */
export async function giveUpNonce(
  { signer, findOpen, record, isFree, listBound, newUuid }: GiveUpDeps,
  wallet: { tenantId: string; walletId: string; network: string; address: string },
  { nonce, ...terms }: GivenUpNonce,
): Promise<GiveUpOutcome> {
  const { tenantId, walletId, network, address } = wallet;
  const [answer] = await signer.signedFrom([{ tenantId, walletId, network, nonce }]);
  if (answer === undefined || "refused" in answer)
    return { refused: answer?.reason ?? "The signer has not answered." };
  // Its journal may have been restored from a backup.
  const known = [...answer, ...(await listBound()).filter((one) => one.nonce >= nonce)];
  const bound = known.find((one) => one.nonce === nonce)?.transactionId;
  if (bound === undefined && !(await isFree(nonce)))
    return {
      refused: `The database has given the nonce ${nonce} of ${address} to a payment, which has not been signed yet. Cancel it, if it must not be paid.`,
    };
  if (bound === undefined && known.length === 0)
    return { refused: `The signer has signed nothing with nonce ${nonce} of ${address}, or a later one.` };
  const open = bound === undefined ? undefined : await findOpen(bound);
  if (open?.hasNonce === true)
    return {
      refused: `The nonce ${nonce} of ${address} belongs to ${shownPaymentId(bound ?? "")}, which is in the database, has a nonce and has not ended. Cancel it, if it must not be paid.`,
    };
  // Before anything is signed: the signer signs no payment after an empty transaction.
  await record(open === undefined ? undefined : bound);
  const transactionId = bound ?? newUuid();
  const [signed] = await signer.sign([
    {
      ...{ tenantId, walletId, network, address, transactionId, nonce, ...terms },
      ...{ purpose: "cancellation", contract: null, destination: address, amount: 0n },
    },
  ]);
  if (signed === undefined || "refused" in signed)
    return { refused: signed?.reason ?? "The signer has not answered." };
  return { transactionId: bound ?? null, ...signed };
}
