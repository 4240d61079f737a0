import { contractCheck, fail, ignoreNoResponse } from "../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../engine/kit.js";
import { isRefusal } from "../http/reply.js";
import type { Receiver } from "../webhooks/receiver.js";
import { unissued } from "./access-checks.js";
import { createEvidence } from "./creation-evidence.js";
import { acceptTransaction, repeat } from "./key-scenarios.js";
import { findCarriedOut } from "./refused-repetition.js";
import { endpoint } from "./webhook-endpoint.js";
import { type Announced, announced, isAbout } from "./webhook-scenarios.js";

/** Requests that the contract does not allow, each with a reference of its own. */
const wrongRequests = ({ target }: Kit): readonly [what: string, options: CreateOptions][] => [
  ["without Idempotency-Key", { key: null }],
  ["without a token", { authorization: null }],
  ["with a token that nobody has issued", { authorization: unissued }],
  ["with an amount that is a JSON number", { fields: { amount: Number(target.transaction.amount) } }],
];

async function expectNotCarriedOut(kit: Kit, receiver: Receiver, before: Announced): Promise<void> {
  const twice = await findCarriedOut(kit, receiver, before);
  if (twice === undefined) return;
  const { reference, status, usual, own } = twice;
  fail(
    `one transaction for ${reference}, because its repetition was refused with ${status}`,
    `${own.length} notifications with this reference and different delivery_ids, at two of two such transactions; ${usual} at each of those that were not repeated`,
    own,
  );
}

/** What was refused must not happen all the same. Only notifications can show it, because the contract has no list of transactions. */
export const refusedChecks = [
  contractCheck(
    "refused.nothing-created",
    "4.rule-4",
    "A request that is refused does not become a transaction.",
    { needs: ["webhook.each"], writes: ["transaction", "webhook endpoint"] },
    async (kit) => {
      const before = await announced(kit);
      const evidence = createEvidence(kit, before);
      const { receiver } = await endpoint(kit);
      const { webhookMs, quietMs } = kit.target.timing;
      const start = receiver.deliveries.length;
      const refused: { what: string; attempt: Attempt }[] = [];
      for (const [what, options] of wrongRequests(kit)) {
        const attempt = await kit.create(options).catch(ignoreNoResponse);
        if (attempt !== undefined && isRefusal(attempt.reply)) refused.push({ what, attempt });
      }
      const accepted = await acceptTransaction(kit);
      const repeated = await repeat(kit, accepted);
      const isRepeatRefused = isRefusal(repeated.reply) && accepted.id !== undefined;
      // When the last one is announced, those before it would have been announced too.
      const arrived = () => receiver.deliveries.slice(start);
      await kit.watch(webhookMs, async () => arrived().find((one) => isAbout(kit, one, accepted)));
      await kit.sleep(quietMs);
      for (const one of arrived()) {
        for (const { what, attempt } of refused) {
          const { reference } = attempt;
          const how = evidence.byReference(one, reference) ?? (await evidence.byId(one, reference));
          if (how !== undefined)
            fail(
              `no transaction for the request ${what}, ${reference}, which was refused with ${attempt.reply.status}`,
              `notification ${one.index}, ${how}`,
              [one],
            );
        }
        const how = isRepeatRefused ? await evidence.byId(one, accepted.reference) : undefined;
        if (how !== undefined)
          fail(
            `one transaction, ${accepted.id}, because its repetition was refused with ${repeated.reply.status}`,
            `notification ${one.index}, ${how}`,
            [one],
          );
      }
      if (isRefusal(repeated.reply) && !evidence.hasIds) await expectNotCarriedOut(kit, receiver, before);
    },
  ),
];
