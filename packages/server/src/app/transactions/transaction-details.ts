import type { Asset, AssetRegistry, PolicyRejection, Receipt, TransactionDetails } from "@bursar/domain";

/** What an event added to a transaction's record, as it is read: with the fee's asset, so that it can be shown. */
export interface StepDetails {
  hash: string | null;
  block: Receipt["block"] | null;
  fee: { asset: Asset; amount: bigint } | null;
  policy: PolicyRejection | null;
}

/** The form in the event log. An amount does not fit into a number of JSON, so it is a string. */
interface LoggedDetails {
  hash?: string;
  block?: Receipt["block"];
  fee?: { asset: string; amount: string };
  policy?: PolicyRejection;
}

export function writeTransactionDetails({ fee, ...details }: TransactionDetails): LoggedDetails {
  return fee === undefined
    ? details
    : { ...details, fee: { asset: fee.asset, amount: fee.amount.toString() } };
}

export function readTransactionDetails(logged: unknown, assets: AssetRegistry): StepDetails | null {
  if (logged == null) return null;
  const { hash = null, block = null, policy = null, fee } = logged as LoggedDetails;
  if (fee === undefined) return { hash, block, policy, fee: null };
  const asset = assets.find(fee.asset);
  if (asset === undefined) throw new Error(`the database has an asset that is not configured: ${fee.asset}`);
  return { hash, block, policy, fee: { asset, amount: BigInt(fee.amount) } };
}
