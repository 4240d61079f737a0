import type { WaitingVerdict } from "@bursar/domain";
import { type AllowList, kindOfAddress } from "../../policy/allow-list.js";
import { judgeActiveWaiting } from "../../policy/judge-active.js";
import type { ActivePolicies } from "../../policy/policy.js";
import type { WalletDirectory } from "../../wallets/wallet-directory.js";
import { toPolicyRequest } from "../read-request.js";
import type { Transaction } from "../transaction.js";

export interface JudgeWaitingDeps {
  policies: Pick<ActivePolicies, "peek" | "load">;
  allowList: AllowList;
  wallets: Pick<WalletDirectory, "find">;
}

/** How the policy in force judges a transaction that waits for approval; undefined if it requires none. */
export type JudgeWaitingTransaction = (transaction: Transaction) => Promise<WaitingVerdict | undefined>;

export function createWaitingJudge({
  policies,
  allowList,
  wallets,
}: JudgeWaitingDeps): JudgeWaitingTransaction {
  return async ({ tenantId, clientId, asset, amount, parties, createdAt, judgement }) => {
    if (judgement?.requirement == null || clientId === null || parties.kind === "deposit") return undefined;
    const { requirement, rule, policyVersion } = judgement;
    const active = policies.peek(tenantId) ?? (await policies.load(tenantId));
    // Nearly always, and then nothing more has to be read.
    if (active.version === policyVersion) return { kind: "require_approval", requirement };
    const source = await wallets.find(tenantId, parties.source.walletId);
    if (source === undefined) throw new Error("the source wallet of a transaction is missing");
    const { destination } = parties;
    const kind =
      "address" in destination
        ? await kindOfAddress(
            allowList,
            tenantId,
            { network: asset.network, address: destination.address },
            createdAt,
          )
        : "own_wallet";
    const request = toPolicyRequest(
      { tenantId, clientId },
      { asset, amount, source },
      kind,
      createdAt.getTime(),
    );
    return judgeActiveWaiting(active, request, { requirement, rule, policyVersion });
  };
}
