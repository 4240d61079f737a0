import { contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { errorOf, isRefusal, type Reply } from "../http/reply.js";
import { mentions } from "../webhooks/delivery-items.js";
import { awaitFinal, expectRefused, requireId, settledTransaction } from "./scenarios.js";
import { announced } from "./webhook-scenarios.js";

const refused = "policy.refused";
const writes = ["transaction"] as const;

const refusedFields = (kit: Kit) =>
  kit.fixture("members that policy refuses", async (own) => {
    const { refusedByPolicy, findRefusedByPolicy } = own.target;
    const fields = refusedByPolicy ?? (await findRefusedByPolicy?.(own));
    if (fields === undefined)
      throw new NotOffered(
        findRefusedByPolicy === undefined
          ? "The target file names no request that policy refuses (refused_by_policy)."
          : "The policy refuses nothing that the kit can find; name a request that it refuses (refused_by_policy).",
      );
    return fields;
  });

interface PolicyRefusal {
  readonly reply: Reply;
  /** The transaction as GET shows it at its end, if the request was accepted and policy rejected it afterwards. */
  readonly rejected: Reply | undefined;
}

/**
 * The request that policy rejects. Creation is asynchronous, so policy may be applied after the 202: the transaction then ends in another
 * state than one that policy allows.
 */
const refusal = (kit: Kit): Promise<PolicyRefusal> =>
  kit.fixture("refused by policy", async (own) => {
    const { reply } = await own.create({ fields: await refusedFields(own) });
    if (isRefusal(reply) || reply.status !== 202) return { reply, rejected: undefined };
    const { state: usual } = await settledTransaction(own);
    const { state, shown } = await awaitFinal(own, requireId(own.target, reply));
    return { reply, rejected: state === usual ? undefined : shown };
  });

/** A request that policy rejects, if the target file names one. */
export const policyChecks = [
  contractCheck(
    refused,
    "7.policy",
    "A request that policy rejects is not carried out.",
    { needs: ["error.object"], unlessFailed: ["tx.get.result"], writes },
    async (kit) => {
      const { reply, rejected } = await refusal(kit);
      const what = "the request that policy rejects (refused_by_policy of the target file)";
      if (rejected === undefined) expectRefused(reply, `${what}, at once or by its final state`);
    },
  ),
  contractCheck(
    "policy.status",
    "1.errors",
    "A rejection by policy is not answered with 200 or 202.",
    { needs: [refused, "error.status"], writes },
    async (kit) => {
      const { reply, rejected } = await refusal(kit);
      if (rejected !== undefined) throw new NotOffered("Policy is applied after the 202, and may be.");
      expect(
        reply.status >= 400,
        "a status that does not mean success for a rejection by policy",
        `status ${reply.status} with an error object`,
      );
    },
  ),
  contractCheck(
    "policy.code",
    "7.policy",
    "A rejection by policy has the code POLICY_REJECTED.",
    { needs: [refused, "error.code.stable"], writes },
    async (kit) => {
      const { reply, rejected } = await refusal(kit);
      if (rejected !== undefined) {
        if (rejected.text.includes("POLICY_REJECTED")) return;
        throw new NotOffered("Policy is applied after the 202, and GET does not show the reason.");
      }
      const code = errorOf(reply)?.["code"];
      expect(code === "POLICY_REJECTED", "the code POLICY_REJECTED", `the code ${JSON.stringify(code)}`);
    },
  ),
  contractCheck(
    "policy.nothing-created",
    "7.policy",
    "A request that policy rejects does not become a transaction.",
    { needs: [refused, "webhook.each"], writes },
    async (kit) => {
      const { receiver } = kit.session;
      const { deliveries, created } = await announced(kit);
      const namesReference = deliveries.some((one) =>
        created.some(({ reference }) => mentions(one, reference)),
      );
      if (receiver === undefined || !namesReference)
        throw new NotOffered(
          "Notifications do not name the reference, so they cannot show what was created.",
        );
      if ((await refusal(kit)).rejected !== undefined)
        throw new NotOffered("Policy is applied after the 202, so there is a transaction, and may be.");
      const { reply, reference } = await kit.create({ fields: await refusedFields(kit) });
      expectRefused(reply, "the request that policy rejects");
      await kit.sleep(kit.target.timing.quietMs);
      const announcements = receiver.deliveries.filter((one) => mentions(one, reference));
      kit.attach(announcements);
      expect(
        announcements.length === 0,
        `no transaction for the refused request ${reference}`,
        "a notification of a transaction with its reference",
      );
    },
  ),
];
