import { fail, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { describeReply, type Reply } from "../../http/reply.js";
import type { DescribedRequest, Place, WebhookTarget } from "../../target/target.js";
import type { Receiver } from "../../webhooks/receiver.js";
import { rawAt } from "../scenarios.js";

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
    receiver.setPlaces(webhooks.items);
    const byHand = { id: "", receiver, webhooks, secret: webhooks.secret, keyId: undefined };
    if (webhooks.register === undefined) return byHand;
    const reply = await sendDescribed(own, webhooks.register, { url: receiver.url });
    if (reply.status < 200 || reply.status > 299)
      fail(
        "the registration of the webhook endpoint to be accepted, as the target file describes it",
        describeReply(reply),
      );
    const { remove, activate, rotate, secretAt } = webhooks;
    const needsId = [remove, activate, rotate].some((one) => JSON.stringify(one ?? "").includes("{id}"));
    if (needsId) expectAt(reply, webhooks.id, "an id", "webhooks.id");
    const id = lastSegment(rawAt(reply, webhooks.id));
    if (remove !== undefined)
      leftovers.push({
        what: `webhook endpoint ${id}`,
        remove: async (its) => {
          const { status } = await sendDescribed(its, remove, { id, url: receiver.url });
          return status < 300 || status === 404 ? undefined : `status ${status}`;
        },
      });
    if (secretAt !== undefined) expectAt(reply, secretAt, "a secret", "webhooks.secret");
    if (activate !== undefined) {
      const activated = await sendDescribed(own, activate, { id, url: receiver.url });
      if (activated.status > 299) fail("the webhook endpoint to be activated", describeReply(activated));
    }
    return { ...byHand, id, ...readSecret(own, webhooks, reply) };
  });

function expectAt(reply: Reply, place: Place, what: string, member: string): void {
  const value = rawAt(reply, place);
  if (value === undefined || value === "" || value === null)
    fail(`${what} at ${place} of the registration, where ${member} of the target file says`, "none");
}

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
