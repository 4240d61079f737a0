import { contractCheck, expect, fail, ignoreNoResponse, NotOffered } from "../engine/check.js";
import { type Attempt, type CreateOptions, type Kit, membersOf } from "../engine/kit.js";
import { isRefusal } from "../http/reply.js";
import type { Delivery } from "../webhooks/receiver.js";
import { unissued, unissuedToken } from "./access-checks.js";
import { aboutId, createEvidence } from "./creation-evidence.js";
import { hungUp } from "./hang-up.js";
import { type Accepted, acceptTransaction, repeat } from "./keys/key-scenarios.js";
import { findCarriedOut } from "./refused-repetition.js";
import { expectAccepted } from "./scenarios.js";
import { endpoint } from "./webhooks/webhook-endpoint.js";
import { isAbout } from "./webhooks/webhook-names.js";
import { type Announced, announced } from "./webhooks/webhook-scenarios.js";

/** Requests that the contract does not allow, each with a reference of its own. */
const wrongRequests = ({ target }: Kit): readonly [what: string, options: CreateOptions][] => [
  ["without Idempotency-Key", { key: null }],
  ["without a token", { authorization: null }],
  ["with a token that nobody has issued", { authorization: unissued }],
  ["with an amount that is a JSON number", { fields: { amount: Number(target.transaction.amount) } }],
];

interface NotToBeCreated {
  readonly before: Announced;
  readonly refused: readonly { readonly what: string; readonly attempt: Attempt }[];
  readonly accepted: Accepted;
  readonly repeated: Attempt;
  /** Several requests with one key that were sent at once. */
  readonly raced: readonly Attempt[];
  /** What was announced since then. */
  readonly arrived: readonly Delivery[];
}

/** Requests that are refused, and one that is accepted and repeated. */
const notToBeCreated = (kit: Kit): Promise<NotToBeCreated> =>
  kit.fixture("requests that must not become transactions", async (own) => {
    const before = await announced(own);
    const { receiver } = await endpoint(own);
    const { webhookMs, quietMs } = own.target.timing;
    const start = receiver.deliveries.length;
    const refused: { what: string; attempt: Attempt }[] = [];
    for (const [what, options] of wrongRequests(own)) {
      const attempt = await own.create(options).catch(ignoreNoResponse);
      if (attempt !== undefined && isRefusal(attempt.reply)) refused.push({ what, attempt });
    }
    const body = JSON.stringify(membersOf(own, own.newName()));
    const race = { key: own.newKey(), body, isConcurrent: true };
    const raced = await Promise.all(Array.from({ length: racers }, () => own.create(race)));
    const reused = await own.create({ key: race.key }).catch(ignoreNoResponse);
    if (reused !== undefined && isRefusal(reused.reply))
      refused.push({ what: "with the key of another request", attempt: reused });
    // What goes wrong with them is the concern of their own check.
    await hungUp(own).catch(() => undefined);
    const accepted = await acceptTransaction(own);
    const repeated = await repeat(own, accepted);
    // When the last one is announced, those before it would have been announced too.
    const arrived = () => receiver.deliveries.slice(start);
    await own.watch(webhookMs, async () => arrived().find((one) => isAbout(own, one, accepted)));
    await own.sleep(quietMs);
    return { before, refused, accepted, repeated, raced, arrived: arrived() };
  });

const racers = 3;
/** What was sent, because an attempt with a body of its own does not know it. */
const referenceOf = ([first]: readonly Attempt[]) =>
  String((JSON.parse(first?.body ?? "{}") as { reference?: string }).reference);

/** A fee or the like is booked beside each transaction. */
const besides = (usualIds: number) =>
  usualIds === 0 ? "" : `, besides ${usualIds} such as each transaction has that was not repeated`;

const row = { writes: ["transaction", "webhook endpoint"] } as const;

/** What must not happen. Only notifications can show it, because the contract has no list of transactions. */
export const refusedChecks = [
  contractCheck(
    "access.key",
    "4.post-transactions",
    "A request that was refused for its token is accepted when it is sent again with its key and a valid token.",
    { needs: ["access.garbage"], writes: ["transaction"] },
    async (kit) => {
      const { key, body } = await unissuedToken(kit);
      const { reply } = await kit.create({ key, body });
      const what = "a valid request whose key was sent before with a token that nobody has issued";
      expectAccepted(kit, reply, what);
    },
  ),
  contractCheck(
    "refused.nothing-created",
    "4.rule-4",
    "A request that is refused does not become a transaction.",
    { ...row, needs: ["webhook.each"], unlessFailed: ["webhook.each.later"] },
    async (kit) => {
      const { before, refused, arrived } = await notToBeCreated(kit);
      const evidence = createEvidence(kit, before);
      for (const one of arrived)
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
    },
  ),
  contractCheck(
    "key.repeat.nothing-created",
    "1.transactions",
    "A repeated request is not carried out, however it is answered.",
    {
      ...row,
      needs: ["webhook.each"],
      unlessFailed: ["key.repeat.same-id", "key.repeat.other-connection", "key.race", "webhook.each.later"],
    },
    async (kit) => {
      const { before, accepted, repeated, raced, arrived } = await notToBeCreated(kit);
      const evidence = createEvidence(kit, before);
      const wanted = (reference: string) =>
        `one transaction for ${reference}, whose repetition with the same key was answered with ${repeated.reply.status}`;
      // Without an id in the 202, every id is one that it has not shown.
      const shown = accepted.id === undefined ? [] : arrived;
      const usualIds = await evidence.usualIds();
      if (usualIds === undefined)
        throw new NotOffered(
          "Transactions that were not repeated have further ones with their reference, and not always as many, so a second one cannot be distinguished from these.",
        );
      const findSecond = async (reference: string, what: string) => {
        const found = [...(await evidence.idsOf(shown, reference))];
        const [id, one] = found.at(usualIds) ?? [];
        if (id !== undefined && one !== undefined)
          fail(what, `a second one: notification ${one.index}, ${aboutId(id)}${besides(usualIds)}`, [one]);
      };
      await findSecond(accepted.reference, wanted(accepted.reference));
      const reference = referenceOf(raced);
      const concurrent = `one transaction for ${reference}, from ${racers} concurrent requests with one key`;
      await findSecond(reference, concurrent);
      if (evidence.hasIds) {
        if (await evidence.showsReferences()) return;
        throw new NotOffered(
          "Notifications have ids, and GET shows no reference for them, so a second transaction looks like one of another client.",
        );
      }
      const { receiver } = await endpoint(kit);
      const twice = await findCarriedOut(kit, receiver, before);
      if (twice === undefined) return;
      const { usual, own } = twice;
      const seen = `${own.length} notifications with this reference and different delivery_ids, at two of two such transactions; ${usual} at each of those that were not repeated`;
      // A service may announce again what it answers again, which nothing tells from a second transaction with one notification.
      if (usual > 1 || isRefusal(repeated.reply)) fail(wanted(twice.reference), seen, own);
      kit.attach(own);
      kit.warn(
        `Expected ${wanted(twice.reference)}; seen ${seen}. Either the repetition was carried out, or it was announced again: notifications with the id of the transaction would show which.`,
      );
    },
  ),
  contractCheck(
    "key.hang-up",
    "1.transactions",
    "A request that is repeated after its client hung up before the answer creates one transaction.",
    {
      ...row,
      needs: ["key.repeat.other-connection"],
      unlessFailed: [
        "key.race",
        "key.repeat.each",
        "key.repeat.nothing-created",
        "webhook.each",
        "webhook.each.later",
      ],
    },
    async (kit) => {
      const seen = await notToBeCreated(kit).catch(ignoreNotOffered);
      const all = await hungUp(kit);
      for (const { what, ids } of all)
        expect(ids.size <= 1, `one transaction from ${what}`, `${ids.size}: ${[...ids].join(", ")}`);
      const evidence = seen === undefined ? undefined : createEvidence(kit, seen.before);
      const isSeen = evidence?.hasIds === true && (await evidence.showsReferences());
      const usualIds = await evidence?.usualIds();
      if (seen === undefined || evidence === undefined || !isSeen || usualIds === undefined)
        throw new NotOffered(
          "The responses show one transaction. Whether the request without an answer has become another one is seen only from notifications with ids for which GET shows the reference, and the target need not have them.",
        );
      for (const { what, reference, ids } of all) {
        const announced = await evidence.idsOf(seen.arrived, reference);
        const others = [...announced].filter(([id]) => !ids.has(id));
        const [id, one] = others.at(usualIds + 1 - ids.size) ?? [];
        if (id !== undefined && one !== undefined)
          fail(
            `one transaction from ${what}, ${reference}`,
            `a second one: notification ${one.index}, ${aboutId(id)}${besides(usualIds)}`,
            [one],
          );
      }
    },
  ),
];

function ignoreNotOffered(error: unknown): undefined {
  if (!(error instanceof NotOffered)) throw error;
}
