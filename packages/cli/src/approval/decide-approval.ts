import type { Bursar, Transaction } from "@bursar/client";
import type { Context } from "../commands/command.js";
import { CliError } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import { approvalContent, digestOf } from "./approval-content.js";

/** Shows what waits for approval, computes the digest of what it shows, and sends the decision about exactly that. */
export async function decideApproval(
  { bursar: connect, output, confirm, note }: Context,
  given: Given,
  decision: "approve" | "reject",
): Promise<undefined> {
  const bursar = await connect();
  const [transaction, me] = await Promise.all([
    bursar.transactions.get(given.argument("transaction")),
    bursar.me.get(),
  ]);
  const { approval } = transaction;
  if (approval === null || approval.state !== "pending")
    throw new CliError(`${transaction.id} is ${transaction.state}: it does not wait for approval.`);
  const decimals = await decimalsOf(bursar, transaction.asset);
  const digest = digestOf(approvalContent(transaction, me.tenant.id, decimals));
  for (const line of describe(transaction, me.tenant.name, decimals)) note(line);
  if (digest !== approval.digest) {
    const differs = `The digest of what is shown is ${digest}, and the service's is ${approval.digest}.`;
    if (decision === "approve")
      throw new CliError(
        `${differs} Nothing was approved: the service would record the approval of something else.`,
      );
    note(`Warning: ${differs}`);
  }
  if (decision === "approve") await confirm(`Approve ${transaction.amount} ${transaction.asset}?`);
  const comment = given.text("comment");
  const sent = decision === "approve" ? digest : approval.digest;
  const body = { decision, digest: sent, ...(comment === undefined ? {} : { comment }) };
  output.one(await bursar.transactions.decide(transaction.id, body));
  return undefined;
}

async function decimalsOf(bursar: Bursar, code: string): Promise<number> {
  const asset = (await bursar.assets.list()).data.find((one) => one.code === code);
  if (asset === undefined)
    throw new CliError(`The service has no asset ${code}, so the digest cannot be computed.`);
  return asset.decimals;
}

/** What the digest covers comes first; names and the reference are not covered, so they are marked. */
function describe(transaction: Transaction, tenant: string, decimals: number): string[] {
  const { amount, asset, network, kind, source, destination, expires_at, created_by, approval } = transaction;
  const nameOf = (party: Transaction["source"]) => {
    if (party === null) return "-";
    if ("address" in party) return party.address;
    const name = approval?.wallets.find(({ id }) => id === party.wallet_id)?.name;
    return name === undefined ? party.wallet_id : `${party.wallet_id} (${JSON.stringify(name)})`;
  };
  return [
    `${kind} of ${amount} ${asset} (${decimals} decimals) on ${network}`,
    `  from        ${nameOf(source)}`,
    `  to          ${nameOf(destination)}`,
    `  created by  ${created_by ?? "-"}`,
    `  expires     ${expires_at ?? "never"}`,
    `  id          ${transaction.id} of ${JSON.stringify(tenant)}`,
    `  not part of the digest: reference ${JSON.stringify(transaction.reference)}, rule ${approval?.rule ?? "-"}, ${approval?.approved ?? 0} of ${approval?.required ?? 0} approvals`,
  ];
}
