import { fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { describeReply, type Reply, valueAt } from "../http/reply.js";
import type { DescribedRequest, WebhookTarget } from "../target/target.js";
import { findMember, itemOf, mentions } from "../webhooks/delivery-items.js";
import type { Delivery, Receiver } from "../webhooks/receiver.js";
import { awaitFinal, type Created, createTransaction, rawAt, stateOf } from "./scenarios.js";

/** The endpoint that the kit has registered, with its secret. */
export interface Endpoint {
  readonly id: string;
  readonly receiver: Receiver;
  readonly webhooks: WebhookTarget;
  readonly secret: string | undefined;
  readonly keyId: string | undefined;
}

/** Registers the receiver once in a run, and remembers to remove it. */
export const endpoint = (kit: Kit): Promise<Endpoint> =>
  kit.fixture("webhook endpoint", async (own) => {
    const { webhooks } = own.target;
    const { receiver, leftovers } = own.session;
    if (webhooks === undefined || receiver === undefined)
      throw new NotOffered("The target file does not say how webhooks are registered (webhooks).");
    receiver.setChallenge(webhooks.challenge);
    const byHand = { id: "", receiver, webhooks, secret: webhooks.secret, keyId: undefined };
    if (webhooks.register === undefined) return byHand;
    const reply = await sendDescribed(own, webhooks.register, { url: receiver.url });
    if (reply.status < 200 || reply.status > 299)
      fail(
        "the registration of the webhook endpoint to be accepted, as the target file describes it",
        describeReply(reply),
      );
    const id = lastSegment(rawAt(reply, webhooks.id));
    const { remove } = webhooks;
    if (remove !== undefined)
      leftovers.push({
        what: `webhook endpoint ${id}`,
        remove: async (its) => {
          const { status } = await sendDescribed(its, remove, { id });
          return status < 300 || status === 404 ? undefined : `status ${status}`;
        },
      });
    if (webhooks.activate !== undefined) {
      const activated = await sendDescribed(own, webhooks.activate, { id });
      if (activated.status > 299) fail("the webhook endpoint to be activated", describeReply(activated));
    }
    return { ...byHand, id, ...readSecret(own, webhooks, reply) };
  });

const lastSegment = (value: unknown) =>
  String(value ?? "")
    .split("/")
    .at(-1) ?? "";

/** The secret in a response that shows one, and the id of its key. */
export function readSecret(
  { session }: Kit,
  webhooks: WebhookTarget,
  reply: Reply,
): Pick<Endpoint, "secret" | "keyId"> {
  const { secretAt, messageSignatures } = webhooks;
  const shown = secretAt === undefined ? undefined : String(rawAt(reply, secretAt) ?? "");
  if (shown !== undefined && shown !== "") session.secrets.set(shown, "$WEBHOOK_SECRET");
  const keyId = messageSignatures?.keyId === undefined ? undefined : rawAt(reply, messageSignatures.keyId);
  return { secret: shown ?? webhooks.secret, keyId: typeof keyId === "string" ? keyId : undefined };
}

/** A request of the target file, with the names in braces replaced. */
export function sendDescribed(
  kit: Kit,
  request: DescribedRequest,
  values: Readonly<Record<string, string>>,
): Promise<Reply> {
  const fill = (text: string) =>
    Object.entries({ run: kit.session.runId, ...values }).reduce(
      (done, [name, value]) => done.replaceAll(`{${name}}`, value),
      text,
    );
  const body = request.body === undefined ? undefined : fill(JSON.stringify(request.body));
  return kit.send(request.method, fill(request.path), {
    headers: body === undefined ? [] : [["Content-Type", "application/json"]],
    body,
  });
}

/** The state that a notification reports; undefined if it has none. */
export function stateIn({ target }: Kit, delivery: Delivery): string | undefined {
  const path = target.webhooks?.state;
  const given = path === undefined ? undefined : valueAt(delivery.json, path);
  if (path !== undefined) return typeof given === "string" ? given : undefined;
  const name = target.shown.state?.split(".").at(-1);
  return findMember(delivery.json, name === undefined ? ["state", "status"] : [name, "state", "status"]);
}

export interface Announced {
  readonly created: readonly Created[];
  /** The final state of each, as GET shows it. */
  readonly states: ReadonlyMap<string, string>;
  readonly deliveries: readonly Delivery[];
}

/**
 * Two transactions, with everything that is announced about them until nothing more arrives. While a notification waits for its answer, GET
 * is asked for the state: what is announced must be visible.
 */
export const announced = (kit: Kit): Promise<Announced> =>
  kit.fixture("announced transactions", async (own) => {
    const { receiver } = await endpoint(own);
    const created: Created[] = [];
    const { timing } = own.target;
    receiver.answerWith(async (delivery) => {
      const about = await own.poll(timing.resultMs, async () =>
        created.find(({ id }) => mentions(delivery, id)),
      );
      if (about !== undefined) {
        const shown = await own.send("GET", `/v1/transactions/${encodeURIComponent(about.id)}`);
        delivery.shownState = stateOf(own.target, shown.json);
      }
      return 204;
    });
    created.push(await createTransaction(own), await createTransaction(own));
    const states = new Map<string, string>();
    for (const { id } of created) states.set(id, (await awaitFinal(own, id)).state);
    const about = ({ id }: Created) => receiver.deliveries.filter((one) => mentions(one, id));
    await own.poll(timing.webhookMs, async () =>
      created.every((one) => about(one).length > 0) ? true : undefined,
    );
    const hasState = receiver.deliveries.some((one) => stateIn(own, one) !== undefined);
    const isComplete = (one: Created) =>
      about(one).some((delivery) => stateIn(own, delivery) === states.get(one.id));
    if (hasState && created.every((one) => about(one).length > 0))
      await own.poll(timing.webhookMs, async () => (created.every(isComplete) ? true : undefined));
    await own.sleep(timing.quietMs);
    return { created, states, deliveries: created.flatMap(about) };
  });

/** The same notification, sent again. Without a delivery id it is recognised by its state. */
function isRepetition(kit: Kit, one: Delivery, other: Delivery): boolean {
  const [id, otherId] = [itemOf(one, "delivery_id"), itemOf(other, "delivery_id")];
  if (id !== undefined && id === otherId) return true;
  return stateIn(kit, one) === stateIn(kit, other);
}

/** A transaction whose first notification is answered with 500, and what is sent after that. */
export const retried = (kit: Kit): Promise<{ first: Delivery; second: Delivery | undefined }> =>
  kit.fixture("retried notification", async (own) => {
    const { receiver } = await endpoint(own);
    const { timing } = own.target;
    let refused: Delivery | undefined;
    const before = receiver.deliveries.length;
    receiver.answerWith(async (delivery) => {
      refused ??= delivery;
      return refused === delivery ? 500 : 204;
    });
    await createTransaction(own);
    const first = await own.poll(timing.webhookMs, async () => refused);
    if (first === undefined)
      fail(`a notification of a third transaction within ${timing.webhookMs} ms`, "none");
    const second = await own.poll(timing.retryMs, async () =>
      receiver.deliveries.slice(before).find((one) => one !== first && isRepetition(own, first, one)),
    );
    return { first, second };
  });
