import { contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { errorOf } from "../http/reply.js";
import { mentions } from "../webhooks/delivery-items.js";
import { expectRefused } from "./scenarios.js";
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

const refusal = (kit: Kit) =>
  kit.fixture("refused by policy", async (own) => own.create({ fields: await refusedFields(own) }));

/** A request that policy rejects, if the target file names one. */
export const policyChecks = [
  contractCheck(
    refused,
    "7.policy",
    "A request that policy rejects is not accepted.",
    { needs: ["error.object"], writes },
    async (kit) => {
      expectRefused((await refusal(kit)).reply, "the request that policy rejects");
    },
  ),
  contractCheck(
    "policy.code",
    "7.policy",
    "A rejection by policy has the code POLICY_REJECTED.",
    { needs: [refused, "error.code.stable"], writes },
    async (kit) => {
      const code = errorOf((await refusal(kit)).reply)?.["code"];
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
      const { reply, reference } = await kit.create({ fields: await refusedFields(kit) });
      expectRefused(reply, "the request that policy rejects");
      await kit.sleep(kit.target.timing.quietMs);
      const created2 = receiver.deliveries.some((one) => mentions(one, reference));
      expect(
        !created2,
        `no transaction for the refused request ${reference}`,
        "a notification of a transaction with its reference",
      );
    },
  ),
];
