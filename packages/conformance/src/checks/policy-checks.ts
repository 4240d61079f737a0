import { contractCheck, expect, fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { showValue } from "../engine/name-value.js";
import { describeReply, errorOf, isRefusal, type Reply } from "../http/reply.js";
import { containsText, itemAt, mentions, placesOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { expectFailed } from "./error-checks.js";
import { awaitFinal, expectRefused, requireId, settledTransaction } from "./scenarios.js";
import { type Announced, announced } from "./webhook-scenarios.js";

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

type Identify = (delivery: Delivery, reference: string) => Promise<string | undefined>;

/**
 * Says how a notification shows that a transaction with a reference exists: it has the reference, or an id of which GET shows the reference.
 * Where notifications have the id is seen from those about transactions whose id is known.
 */
function createIdentifier(kit: Kit, { deliveries, created }: Announced): Identify {
  const namesReference = deliveries.some((one) => created.some(({ reference }) => mentions(one, reference)));
  const places = new Set(
    deliveries.flatMap((one) => created.flatMap(({ id }) => (id === undefined ? [] : placesOf(one, id)))),
  );
  if (!namesReference && places.size === 0)
    throw new NotOffered(
      "Notifications name neither the reference nor the id, so they cannot show what was created.",
    );
  return async (delivery, reference) => {
    if (mentions(delivery, reference)) return "which has its reference";
    for (const place of places) {
      const id = lastSegment(itemAt(delivery, place) ?? "");
      const isKnown = id === "" || created.some((one) => one.id === id);
      const shown = isKnown ? undefined : await kit.send("GET", `/v1/transactions/${encodeURIComponent(id)}`);
      if (shown?.status === 200 && containsText(shown.json, reference))
        return `which is about ${id}: GET shows it with this reference`;
    }
    return undefined;
  };
}

const lastSegment = (text: string) => text.split("/").at(-1) ?? "";

/** A request that policy rejects, if the target file names one. */
export const policyChecks = [
  contractCheck(
    refused,
    "7.policy",
    "A request that policy rejects is not carried out.",
    { needs: ["tx.create.accepted"], unlessFailed: ["error.object", "tx.get.result"], writes },
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
      expectFailed(reply, "a rejection by policy");
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
      const error = errorOf(reply);
      expect(error !== undefined, "an error object with the code POLICY_REJECTED", describeReply(reply));
      const { code } = error;
      expect(code === "POLICY_REJECTED", "the code POLICY_REJECTED", `the code ${showValue(code)}`);
    },
  ),
  contractCheck(
    "policy.nothing-created",
    "7.policy",
    "A request that policy rejects does not become a transaction.",
    { needs: [refused, "webhook.each"], writes },
    async (kit) => {
      const { receiver } = kit.session;
      const identify = createIdentifier(kit, await announced(kit));
      if ((await refusal(kit)).rejected !== undefined)
        throw new NotOffered("Policy is applied after the 202, so there is a transaction, and may be.");
      const start = receiver?.deliveries.length ?? 0;
      const { reply, reference } = await kit.create({ fields: await refusedFields(kit) });
      expectRefused(reply, "the request that policy rejects");
      await kit.sleep(kit.target.timing.quietMs);
      for (const one of receiver?.deliveries.slice(start) ?? []) {
        const how = await identify(one, reference);
        if (how !== undefined)
          fail(`no transaction for the refused request ${reference}`, `notification ${one.index}, ${how}`, [
            one,
          ]);
      }
    },
  ),
];
