import { contractCheck, expect, fail, NotOffered } from "../engine/check.js";
import type { Attempt, Kit } from "../engine/kit.js";
import { showValue } from "../engine/name-value.js";
import { describeReply, errorOf, isRefusal, type Reply } from "../http/reply.js";
import type { Delivery } from "../webhooks/receiver.js";
import { withoutToken } from "./access-checks.js";
import { createEvidence } from "./creation-evidence.js";
import { expectFailed } from "./error-checks.js";
import { numberAmount, withoutKey } from "./keys/key-scenarios.js";
import { sendNew } from "./keys/new-key.js";
import {
  awaitFinal,
  createTransaction,
  expectRefused,
  failOverdue,
  isAccepted,
  requireId,
  settledTransaction,
} from "./scenarios.js";
import { unknownTransaction } from "./transaction-checks.js";
import { isAbout } from "./webhooks/webhook-names.js";
import { allStatesIn, announced, statesIn } from "./webhooks/webhook-scenarios.js";

const refused = "policy.refused";
const writes = ["transaction"] as const;

export const refusedFields = (kit: Kit) =>
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
  readonly attempt: Attempt;
  readonly reply: Reply;
  /** The transaction as GET shows it at its end, if the request was accepted and policy rejected it afterwards. */
  readonly rejected: Reply | undefined;
}

/**
 * The request that policy rejects. Creation is asynchronous, so policy may be applied after the 202: the transaction then ends in another
 * state than one that policy allows.
 */
export const policyRefusal = (kit: Kit): Promise<PolicyRefusal> =>
  kit.fixture("refused by policy", async (own) => {
    const attempt = await sendNew(own, { fields: await refusedFields(own) });
    return { attempt, reply: attempt.reply, rejected: await rejectedLater(own, attempt.reply) };
  });

/** The transaction at its end, if it was accepted and ends in another state than one that policy allows. */
async function rejectedLater(kit: Kit, reply: Reply): Promise<Reply | undefined> {
  if (!isAccepted(kit.target, reply)) return undefined;
  const { state: usual } = await settledTransaction(kit);
  const { state, shown } = await awaitFinal(kit, requireId(kit.target, reply));
  return state === usual ? undefined : shown;
}

/** A request that policy rejects, if the target file names one. */
export const policyChecks = [
  contractCheck(
    refused,
    "7.policy",
    "A request that policy rejects is not carried out.",
    { needs: ["tx.create.admitted"], unlessFailed: ["error.object", "tx.get.result"], writes },
    async (kit) => {
      const { reply, rejected } = await policyRefusal(kit);
      const what = "the request that policy rejects (refused_by_policy of the target file)";
      if (rejected === undefined) expectRefused(reply, `${what}, at once or by its final state`);
    },
  ),
  contractCheck(
    "policy.refused.again",
    "7.policy",
    "A request that policy rejects is not carried out either when it is repeated with its key.",
    { needs: [refused], writes },
    async (kit) => {
      const { attempt } = await policyRefusal(kit);
      const { reply } = await kit.create({ key: attempt.key, body: attempt.body });
      if (reply.status >= 300) return;
      const isRejected = (await rejectedLater(kit, reply)) !== undefined;
      if (!isRejected) expectRefused(reply, "a repetition of the request that policy rejects");
      else if (isRefusal(attempt.reply))
        kit.warn("The request was refused at once, and its repetition was accepted and rejected afterwards.");
    },
  ),
  contractCheck(
    "policy.status",
    "1.errors",
    "A rejection by policy is not answered with 200 or 202.",
    { needs: [refused, "error.status"], writes },
    async (kit) => {
      const { reply, rejected } = await policyRefusal(kit);
      if (rejected !== undefined) throw new NotOffered("Policy is applied after the 202, and may be.");
      expectFailed(reply, "a rejection by policy");
    },
  ),
  contractCheck(
    "policy.code",
    "7.policy",
    "A rejection by policy has the code POLICY_REJECTED.",
    { needs: [refused, "error.code.stable"], writes },
    async (kit) => {
      const { reply, rejected } = await policyRefusal(kit);
      if (rejected !== undefined) {
        if (rejected.text.includes("POLICY_REJECTED")) return;
        throw new NotOffered("Policy is applied after the 202, and GET does not show the reason.");
      }
      const error = errorOf(reply);
      expect(error !== undefined, "an error object with the code POLICY_REJECTED", describeReply(reply));
      const { code } = error;
      expect(code === "POLICY_REJECTED", "the code POLICY_REJECTED", `the code ${showValue(code)}`);
    },
  ),
  contractCheck(
    "policy.code.alone",
    "7.policy",
    "What is refused for its form, for a missing token or key, or because it does not exist has another code than POLICY_REJECTED.",
    { needs: ["tx.create.admitted"], unlessFailed: ["error.code.form", refused, "policy.code"], writes },
    async (kit) => {
      const { reply: unknown } = await unknownTransaction(kit);
      const { reply: malformed } = await kit.create({ body: "{" });
      const { reply: word } = await kit.create({ fields: { amount: "a lot" } });
      for (const [what, reply] of [
        ["an id that no transaction has", unknown],
        ["a body that is not JSON", malformed],
        ["an amount that is not a decimal number", word],
        ["an amount that is a JSON number", (await numberAmount(kit)).reply],
        ["a request without Idempotency-Key", (await withoutKey(kit)).reply],
        ["a request without a token", (await withoutToken(kit)).reply],
      ] as const)
        expect(
          errorOf(reply)?.["code"] !== "POLICY_REJECTED",
          `another code for ${what} than the one for what policy rejects`,
          `the code POLICY_REJECTED, so a client cannot know what policy rejects`,
          reply,
        );
    },
  ),
  contractCheck(
    "policy.announced",
    "3.state",
    "If policy rejects a transaction after the 202, that is announced.",
    { needs: [refused, "webhook.each"], unlessFailed: ["webhook.each.later"], writes },
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      // What is refused at once is no transaction.
      if ((await policyRefusal(kit)).rejected === undefined) return;
      const start = kit.session.receiver?.deliveries.length ?? 0;
      const own = await createTransaction(kit, { fields: await refusedFields(kit) });
      const { state } = await awaitFinal(kit, own.id);
      const isResult = (one: string) => kit.target.finalStates.includes(one);
      const haveResults = deliveries.some((one) => allStatesIn(kit, one, created).some(isResult));
      const about = () =>
        (kit.session.receiver?.deliveries.slice(start) ?? []).filter((one) => isAbout(kit, one, own));
      const isAnnounced = (one: Delivery) => !haveResults || statesIn(kit, one, own).includes(state);
      const found = await kit.watch(kit.target.timing.webhookMs, async () => about().find(isAnnounced));
      if (found !== undefined) return;
      kit.attach(about());
      const wanted = `a notification that policy has rejected ${own.id}, whose state is ${state}`;
      failOverdue(kit, "webhookMs", wanted, `${about().length} about it, none of which says so`);
    },
  ),
  contractCheck(
    "policy.nothing-created",
    "7.policy",
    "A request that policy rejects does not become a transaction.",
    { needs: [refused, "webhook.each"], unlessFailed: ["webhook.each.later"], writes },
    async (kit) => {
      const { receiver } = kit.session;
      const evidence = createEvidence(kit, await announced(kit));
      if ((await policyRefusal(kit)).rejected !== undefined)
        throw new NotOffered("Policy is applied after the 202, so there is a transaction, and may be.");
      const start = receiver?.deliveries.length ?? 0;
      const { reply, reference } = await kit.create({ fields: await refusedFields(kit) });
      expectRefused(reply, "the request that policy rejects");
      await kit.sleep(kit.target.timing.quietMs);
      for (const one of receiver?.deliveries.slice(start) ?? []) {
        const how = evidence.byReference(one, reference) ?? (await evidence.byId(one, reference));
        if (how !== undefined)
          fail(`no transaction for the refused request ${reference}`, `notification ${one.index}, ${how}`, [
            one,
          ]);
      }
    },
  ),
];
