import {
  type ApprovalTerms,
  approvalDigest,
  type Bursar,
  fromUnits,
  readApprovalTerms,
  type Transaction,
} from "@bursar/client";
import type { Context } from "../commands/command.js";
import { CliError } from "../exit-codes.js";
import type { Given } from "../parse/given.js";

/** Shows what waits for approval, computes the digest of what it shows, and sends the decision about exactly that. */
export async function decideApproval(
  { bursar: connect, output, confirm, note }: Context,
  given: Given,
  decision: "approve" | "reject",
): Promise<undefined> {
  const bursar = await connect();
  const asked = given.argument("transaction");
  const [transaction, me] = await Promise.all([bursar.transactions.get(asked), bursar.me.get()]);
  const { approval } = transaction;
  if (approval === null || approval.state !== "pending")
    throw new CliError(`${transaction.id} is ${transaction.state}: it does not wait for approval.`);
  const decimals = await decimalsOf(bursar, transaction.asset);
  const terms = readApprovalTerms(transaction, me.tenant.id, decimals);
  const digest = await approvalDigest(terms);
  for (const line of describe(terms, transaction, me.tenant.name)) note(line);
  if (digest !== approval.digest) {
    const differs = `The digest of what is shown is ${digest}, and the service's is ${approval.digest}.`;
    if (decision === "approve")
      throw new CliError(
        `${differs} Nothing was approved: the service would record the approval of something else.`,
      );
    note(`Warning: ${differs}`);
  }
  if (terms.id !== asked)
    throw new CliError(`The service answered with ${terms.id} instead of ${asked}. Nothing was sent.`);
  if (decision === "approve")
    await confirm(
      `Approve ${terms.units} units of ${terms.asset}, which are ${amountOf(terms)} ${terms.asset} with ${terms.decimals} decimals?`,
    );
  const comment = given.text("comment");
  const sent = decision === "approve" ? digest : approval.digest;
  const body = { decision, digest: sent, ...(comment === undefined ? {} : { comment }) };
  output.one(await bursar.transactions.decide(terms.id, body));
  return undefined;
}

async function decimalsOf(bursar: Bursar, code: string): Promise<number> {
  const asset = (await bursar.assets.list()).data.find((one) => one.code === code);
  if (asset === undefined)
    throw new CliError(`The service has no asset ${code}, so the digest cannot be computed.`);
  return asset.decimals;
}

function amountOf({ units, decimals }: ApprovalTerms): string {
  return fromUnits(units, decimals);
}

/**
 * What the digest covers comes first, from the terms alone; names and the reference are not covered, so they are marked. It covers the amount in
 * the smallest units of the asset, and how many decimals that has: with others, the same units are another amount.
 */
function describe(terms: ApprovalTerms, { approval, reference }: Transaction, tenant: string): string[] {
  const { asset, network, kind, units, sourceWalletId, destination, expiresAt, createdBy, decimals } = terms;
  const nameOf = (walletId: string) => {
    const name = approval?.wallets.find(({ id }) => id === walletId)?.name;
    return name === undefined ? walletId : `${walletId} (${JSON.stringify(name)})`;
  };
  return [
    `${kind} of ${units} units of ${asset} on ${network}`,
    `  from        ${nameOf(sourceWalletId)}`,
    `  to          ${"address" in destination ? destination.address : nameOf(destination.wallet_id)}`,
    `  created by  ${createdBy ?? "-"}`,
    `  expires     ${expiresAt ?? "no expiry was requested"}`,
    `  id          ${terms.id} of ${terms.tenantId} (${JSON.stringify(tenant)})`,
    `  amount      ${amountOf(terms)} ${asset}, which has ${decimals} decimals`,
    `  not part of the digest: reference ${JSON.stringify(reference)}, rule ${approval?.rule ?? "-"}, ${approval?.approved ?? 0} of ${approval?.required ?? 0} approvals, to be decided before ${approval?.expires_at ?? "-"}`,
  ];
}
