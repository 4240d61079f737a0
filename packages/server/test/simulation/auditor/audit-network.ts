import { readId, showId } from "@bursar/protocol";
import type { SteppingNetwork } from "../../harness/rails/stepping-network.js";
import { feeCharged } from "../../harness/rails/stepping-rail.js";
import { partyOf, type Transaction } from "../world/exchange.js";
import type { Evidence } from "./auditor.js";

/** The books against the network, which knows what really happened: what it paid, what it charged and what it was paid. */
export function auditNetwork({ closing, network, tenant, undoneIds }: Evidence): string[] {
  const payouts = closing.transactions.filter(
    (one) => one.kind === "payout" && !(undoneIds.has(one.id) && isAsNeverSent(one)),
  );
  return [
    ...payouts.flatMap((payout) => auditPayout(payout, network)),
    ...network
      .deposits()
      .filter(({ transfer }) => transfer.tenantId === tenant)
      .flatMap(({ hash, transfer }) =>
        auditDeposit(
          hash,
          showId("wlt", transfer.walletId),
          closing.transactions.filter(({ kind, reference }) => kind === "deposit" && reference === hash),
          network,
        ),
      ),
  ];
}

/** A payment that was sent, lost, and refused when it came to its turn again: the network has it, and the books cannot know. */
function isAsNeverSent({ state, failure, fee }: Transaction): boolean {
  return (
    ["failed", "cancelled", "rejected"].includes(state) &&
    failure?.code !== "EXECUTION_REVERTED" &&
    fee === null
  );
}

function auditPayout(payout: Transaction, network: SteppingNetwork): string[] {
  const { id, state, failure, fee } = payout;
  const status = network.statusOf(`0x${(readId("tx", id) ?? "").replaceAll("-", "")}`);
  const truth = status.kind === "final" ? status.outcome : status.kind;
  const told = failure?.code === "EXECUTION_REVERTED" ? "reverted" : state;
  const expected: readonly string[] = {
    success: ["completed"],
    reverted: ["reverted"],
    cancelled: ["cancelled"],
    lost: [],
    // What was never sent cost nothing and paid nobody.
    unknown: ["failed", "cancelled", "rejected"],
    pending: [],
    included: [],
  }[truth];
  const violations: string[] = [];
  if (!expected.includes(told)) violations.push(`${id} is ${told}; the network says ${truth}`);
  const charged = truth === "unknown" ? null : { asset: "GAS", amount: feeCharged.toString() };
  if (JSON.stringify(fee) !== JSON.stringify(charged))
    violations.push(`${id} has the fee ${JSON.stringify(fee)}; the network says ${JSON.stringify(charged)}`);
  return violations;
}

function auditDeposit(
  hash: string,
  walletId: string,
  recorded: readonly Transaction[],
  network: SteppingNetwork,
): string[] {
  const status = network.statusOf(hash);
  const [deposit] = recorded;
  if (recorded.length > 1) return [`the deposit ${hash} was recorded ${recorded.length} times`];
  if (status.kind !== "final") return [`the deposit ${hash} is not final on the network`];
  if (status.outcome === "lost")
    return deposit === undefined || deposit.failure?.code === "DEPOSIT_REORGANISED"
      ? []
      : [`the deposit ${hash} was lost, and is ${deposit.state}`];
  if (deposit === undefined) return [`the deposit ${hash} was not recorded`];
  return deposit.state === "completed" && partyOf(deposit.destination) === walletId
    ? []
    : [`the deposit ${hash} is final, and ${deposit.state}`];
}
