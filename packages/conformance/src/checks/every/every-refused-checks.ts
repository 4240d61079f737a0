import { contractCheck, fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { isObject, isRefusal, parseJson, replyOf } from "../../http/reply.js";
import type { Exchange } from "../../http/send.js";
import { containsText, itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { createEvidence } from "../creation-evidence.js";
import { findId, isAccepted } from "../scenarios.js";
import { lateNotifications } from "../webhooks/webhook-every-checks.js";
import { areStates, isIn, type Nameable, nameable, textOf } from "../webhooks/webhook-every-result.js";
import { isAbout } from "../webhooks/webhook-names.js";
import { announced, statesIn } from "../webhooks/webhook-scenarios.js";
import { keyIn, pathOf } from "./run-transactions.js";

/**
 * What is refused or repeated can be carried out by a job that runs later than the check of the request waits. These checks look at all
 * notifications of the run, at its end.
 */

const row = { writes: ["transaction", "webhook endpoint"], atEnd: true } as const;
/** Ids that no response has shown, of which GET is asked for the reference. */
const unknownMax = 20;

interface Creation {
  readonly exchange: Exchange;
  readonly reference: string;
}

export const everyRefusedChecks = [
  contractCheck(
    "refused.every",
    "4.rule-4",
    "No request of the run that was refused has become a transaction, also later.",
    {
      ...row,
      needs: ["webhook.each"],
      unlessFailed: [
        "policy.nothing-created",
        "refused.nothing-created",
        "key.repeat.nothing-created",
        "key.hang-up",
        "webhook.each.later",
      ],
    },
    async (kit) => {
      const before = await announced(kit);
      const evidence = createEvidence(kit, before);
      await lateNotifications(kit);
      const refused = refusedInRun(kit);
      const all = kit.session.receiver?.deliveries ?? [];
      const refuse = ({ exchange, reference }: Creation, one: Delivery, how: string) => {
        kit.cite([exchange]);
        const status = exchange.response?.status;
        fail(
          `no transaction for ${reference}, whose request was refused with ${status} in exchange ${exchange.index}, also later`,
          `notification ${one.index}, ${how}`,
          [one],
        );
      };
      for (const one of all) {
        const text = textOf(one);
        for (const creation of refused.filter(({ reference }) => text.includes(reference))) {
          const how = evidence.byReference(one, creation.reference);
          if (how !== undefined) refuse(creation, one, how);
        }
      }
      for (const [id, one] of [...evidence.unknownIds(all)].slice(0, unknownMax)) {
        const { status, json } = await kit.send("GET", pathOf(id));
        const creation = refused.find(({ reference }) => containsText(json, reference));
        if (status === 200 && creation !== undefined)
          refuse(creation, one, `which is about ${id}: GET shows it with this reference`);
      }
    },
  ),
  contractCheck(
    "key.repeat.every",
    "1.transactions",
    "No transaction of the run whose result was announced is carried out again because its request is repeated.",
    {
      ...row,
      needs: ["webhook.each"],
      unlessFailed: [
        "key.repeat.unchanged",
        "webhook.result",
        "webhook.result.every",
        "webhook.delivery-id.unique",
        "webhook.delivery-id.every",
        "webhook.event.name",
        "tx.get.every-final",
        "failed.repeat",
      ],
    },
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      await lateNotifications(kit);
      const all = kit.session.receiver?.deliveries ?? [];
      const texts = new Map(all.map((one) => [one, textOf(one)]));
      const repetitions = repetitionsOf(kit);
      for (const transaction of nameable(kit, deliveries, created)) {
        const repeated = repetitions.get(transaction.id);
        if (repeated === undefined) continue;
        const about = all.filter(
          (one) => isIn(texts.get(one) ?? "", transaction) && isAbout(kit, one, transaction.as),
        );
        expectNotAgain(kit, transaction, about, repeated);
      }
    },
  ),
];

/** Requests that were refused, and whose reference no other request has that may have been accepted. */
function refusedInRun(kit: Kit): Creation[] {
  const refused: Creation[] = [];
  const others = new Set<string>();
  for (const exchange of kit.session.exchanges) {
    const { method, url, body } = exchange.request;
    if (method !== "POST" || !url.pathname.endsWith("/transactions")) continue;
    const sent = parseJson(body ?? "");
    const reference = isObject(sent) ? sent["reference"] : undefined;
    // Another form can be part of another string by chance, or be written otherwise.
    if (typeof reference !== "string" || !/^[\w-]{12,64}$/.test(reference)) continue;
    const reply = replyOf(exchange);
    // A server that fails may have failed after it has accepted the request.
    const isSurelyRefused = reply !== undefined && isRefusal(reply) && reply.status < 500;
    if (isSurelyRefused) refused.push({ exchange, reference });
    else others.add(reference);
  }
  return refused.filter(({ reference }) => !others.has(reference));
}

/** The repetitions of the requests that were accepted, by the ids of their transactions. */
function repetitionsOf(kit: Kit): Map<string, Exchange[]> {
  const first = new Map<string, { id: string; body: string | undefined }>();
  const all = new Map<string, Exchange[]>();
  for (const exchange of kit.session.exchanges) {
    const { request } = exchange;
    const key = keyIn(request);
    if (key === undefined || request.method !== "POST") continue;
    const known = first.get(key);
    if (known?.body === request.body && known !== undefined)
      all.set(known.id, [...(all.get(known.id) ?? []), exchange]);
    const reply = known === undefined ? replyOf(exchange) : undefined;
    const id =
      reply !== undefined && isAccepted(kit.target, reply) ? findId(kit.target, reply)?.id : undefined;
    if (id !== undefined) first.set(key, { id, body: request.body });
  }
  return all;
}

/**
 * Notifications can arrive in another order than that in which they were sent. One with an earlier state counts only if the request was
 * repeated after the result had arrived, and if that state was announced before, or another result follows.
 */
function expectNotAgain(
  kit: Kit,
  { id, as }: Nameable,
  about: readonly Delivery[],
  repeated: readonly Exchange[],
): void {
  const seen = new Set<string | undefined>();
  /** Not those that are repeated because they were not answered with 2xx. */
  const firsts = about.filter((one) => {
    const deliveryId = itemOf(one, "delivery_id");
    const isFirst = deliveryId !== undefined && !seen.has(deliveryId);
    seen.add(deliveryId);
    return isFirst;
  });
  const isFinal = (one: Delivery) =>
    statesIn(kit, one, as).some((state) => kit.target.finalStates.includes(state));
  const result = firsts.find(isFinal);
  const repetition = repeated.find(({ startedAt }) => result !== undefined && startedAt > result.receivedAt);
  if (result === undefined || repetition === undefined) return;
  for (const one of firsts) {
    const states = statesIn(kit, one, as);
    if (one.receivedAt < repetition.startedAt || isFinal(one) || !areStates(kit, states)) continue;
    const isSame = (other: Delivery) => statesIn(kit, other, as).some((state) => states.includes(state));
    const wasAnnounced = firsts.some((other) => other.index < result.index && isSame(other));
    const isAnotherResult = firsts.some((other) => other.index > one.index && isFinal(other));
    if (!wasAnnounced && !isAnotherResult) continue;
    kit.cite([repetition]);
    fail(
      `nothing more about ${id} than its result, ${statesIn(kit, result, as).join(", ")} in notification ${result.index}, after its request was repeated in exchange ${repetition.index}`,
      `the state ${states.join(", ")} in notification ${one.index}: it was carried out again`,
      [result, one],
    );
  }
}
