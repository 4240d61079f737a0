import { alterId } from "../../engine/altered-ids.js";
import { expect, fail, NotOffered, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { percentEncode } from "../../http/percent-encode.js";
import { describeReply, errorOf, isRefusal, type Reply } from "../../http/reply.js";
import { mentions } from "../../webhooks/delivery-items.js";
import { acceptTransaction } from "../keys/key-scenarios.js";
import { createTransaction, findId, findRepeatedId, isAccepted } from "../scenarios.js";
import { createdInRun } from "../shown-members.js";
import { endpoint } from "../webhooks/webhook-endpoint.js";
import { isAbout, nameOf, namesOf } from "../webhooks/webhook-names.js";

const source = "Tenants are not part of the contract. Where there are several, one must not see another.";
const writes = ["transaction"] as const;

function authorizationOfSecond({ session }: Kit): string {
  if (session.secondToken === undefined)
    throw new NotOffered("The target file names no second tenant (second_tenant).");
  return `Bearer ${session.secondToken}`;
}

const refusalOf = (reply: Reply) => `status ${reply.status} with the code ${errorOf(reply)?.["code"]}`;

/** What a second tenant sees of the first. */
export const tenantChecks = [
  profileCheck(
    "tenants.transaction",
    "tenants",
    source,
    "A transaction is not shown to another tenant.",
    { needs: ["tx.get.unknown"], writes },
    async (kit) => {
      const authorization = authorizationOfSecond(kit);
      const { id } = await createTransaction(kit);
      const reply = await kit.send("GET", `/v1/transactions/${percentEncode(id)}`, { authorization });
      expect(isRefusal(reply), `a refusal to show ${id} to another tenant`, describeReply(reply));
    },
  ),
  profileCheck(
    "tenants.unknown",
    "tenants",
    source,
    "A transaction of another tenant is refused as one that does not exist, with the same status and error.code.",
    { needs: ["tenants.transaction"], writes },
    async (kit) => {
      const authorization = authorizationOfSecond(kit);
      const { id } = await createTransaction(kit);
      const unknownId = alterId(id, new Set(createdInRun(kit).flatMap((one) => one.id ?? [])));
      const ask = (asked: string) =>
        kit.send("GET", `/v1/transactions/${percentEncode(asked)}`, { authorization });
      const [unknown, other] = [await ask(unknownId), await ask(id)];
      // Another status can be about the form of an id, such as its checksum, which the altered one does not have.
      // A service that fails tells nothing, and other checks say that it does.
      if (unknown.status !== 404 || other.status >= 500) return;
      expect(
        refusalOf(other) === refusalOf(unknown),
        `${refusalOf(unknown)} for ${id} of another tenant, as for ${unknownId}, which no transaction has`,
        `${describeReply(other)}, which tells that it exists`,
        other,
      );
    },
  ),
  profileCheck(
    "tenants.key",
    "tenants",
    source,
    "A key of another tenant is not found, and one of its own is.",
    {
      needs: ["tx.get.found"],
      unlessFailed: ["key.distinct", "key.repeat.once", "key.repeat.same-id"],
      writes,
    },
    async (kit) => {
      const authorization = authorizationOfSecond(kit);
      const first = await createTransaction(kit);
      const second = await kit.create({ key: first.key, body: first.body, authorization });
      const id = findId(kit.target, second.reply)?.id;
      expect(
        isAccepted(kit.target, second.reply),
        "status 202 for another tenant's request with the same key",
        describeReply(second.reply),
      );
      expect(
        id !== first.id,
        "a transaction of the second tenant's own",
        `${id}, which is the first tenant's`,
      );
      const third = await kit.create({ key: second.key, body: second.body, authorization });
      const again = findRepeatedId(kit.target, third.reply);
      expect(
        isRefusal(third.reply) || again === undefined || again === id,
        `one transaction, ${id}, after the second tenant has sent the same request twice with the same key`,
        `a second one, ${again}`,
      );
    },
  ),
  profileCheck(
    "tenants.webhook",
    "tenants",
    source,
    "A transaction is not announced to the endpoint of another tenant.",
    { needs: ["webhook.each"], unlessFailed: ["tenants.key"], writes: [...writes, "webhook endpoint"] },
    async (kit) => {
      const authorization = authorizationOfSecond(kit);
      const { receiver, webhooks } = await endpoint(kit);
      if (webhooks.register === undefined)
        throw new NotOffered(
          "The endpoint is registered by hand, so it can belong to the operator, to whom the transactions of all tenants are announced.",
        );
      const start = receiver.deliveries.length;
      const arrived = () => receiver.deliveries.slice(start);
      const second = await acceptTransaction(kit, { authorization });
      // When this one is announced, the other one would have been announced too.
      const first = await acceptTransaction(kit);
      const { webhookMs, quietMs } = kit.target.timing;
      await kit.watch(webhookMs, async () => arrived().find((one) => isAbout(kit, one, first)));
      await kit.sleep(quietMs);
      const other = arrived().find((one) => namesOf(second).some((name) => mentions(one, name)));
      if (other !== undefined)
        fail(
          `nothing about ${nameOf(second)} of the second tenant at the endpoint of the first`,
          `notification ${other.index}, which names it`,
          [other],
        );
    },
  ),
];
