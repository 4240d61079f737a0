import { randomBytes } from "node:crypto";
import { type BursarEvent, isBursarError } from "@bursar/client";
import { signTestWebhook, WebhookError } from "@bursar/client/webhooks";
import type { Context } from "../commands/command.js";
import { eventKinds } from "../commands/events.js";
import { CliError, usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import { isLocal } from "../profiles/target.js";
import { deliveryLine, payloadLines, readBody, type ShownDelivery } from "./delivery-line.js";
import { forward } from "./forward.js";
import { type OwnEndpoint, registerEndpoint } from "./own-endpoint.js";
import { startReceiver } from "./receive.js";

const probe = { event: "endpoint.test", delivery_id: "dlv_probe", sequence: null, data: {} } as const;

interface Listening {
  port: number;
  status: number;
  delayMs: number;
  kinds: string[];
  forwardTo: string | undefined;
  show: (delivery: ShownDelivery) => void;
}

/**
 * Three ways, in this order: with the secret of an endpoint that exists, it only receives; a service on this machine can reach it, so it
 * registers itself; for any other it follows the stream, and signs each event with a secret of its own.
 */
export async function listenForWebhooks(context: Context, given: Given): Promise<undefined> {
  const listening = read(context, given);
  const secret = await readSecret(context);
  if (given.flag("follow")) await followAndSign(context, listening, secret);
  else if (secret) await receive(context, listening, secret);
  else if (!isLocal((await context.target()).url)) await followAndSign(context, listening, undefined);
  else await receiveOrFollow(context, listening);
  return undefined;
}

/** Checked before anything is opened: a mistyped secret would refuse every delivery. */
async function readSecret({ io }: Context): Promise<string | undefined> {
  const secret = io.env["BURSAR_WEBHOOK_SECRET"] || undefined;
  try {
    if (secret !== undefined) await signTestWebhook({ body: probe, secrets: [secret] });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    throw usage("BURSAR_WEBHOOK_SECRET must be whsec_ followed by 24 to 64 bytes in base64.");
  }
  return secret;
}

function read({ output }: Context, given: Given): Listening {
  const kinds = given.text("events")?.split(",") ?? [];
  if (kinds.some((kind) => !eventKinds.includes(kind)))
    throw usage(`The kinds of events are ${eventKinds.join(", ")}.`);
  const forwardTo = given.text("forward-to");
  if (
    forwardTo !== undefined &&
    !/^https?:$/.test(URL.canParse(forwardTo) ? new URL(forwardTo).protocol : "")
  )
    throw usage("--forward-to must be a URL that begins with http:// or https://.");
  return {
    port: given.number("port", { min: 0, max: 65_535 }) ?? 8090,
    status: given.number("status", { min: 200, max: 599 }) ?? 200,
    delayMs: given.number("delay", { min: 0, max: 600_000 }) ?? 0,
    kinds,
    forwardTo,
    show: (delivery) => {
      // What does not verify is always shown: its kind is a claim of its sender.
      const isAsked = kinds.length === 0 || kinds.includes(String(readBody(delivery.body).event));
      if (delivery.fault === undefined && !isAsked) return;
      output.item({ ...delivery, at: delivery.at.toISOString() }, () => {
        const payload = given.flag("print") ? payloadLines(delivery.body) : [];
        return [
          deliveryLine(delivery, output.style),
          ...payload.map((line) => output.style.dim(`    ${line}`)),
        ].join("\n");
      });
    },
  };
}

async function receive({ note, io }: Context, listening: Listening, secret: string): Promise<void> {
  const receiver = await startReceiver({ ...listening, secrets: () => [secret], onDelivery: listening.show });
  note(`Listening on ${receiver.url}. Press Ctrl-C to stop.`);
  await untilAborted(io.signal);
  await receiver.close();
}

/** What a receiver needs to verify what is forwarded to it. */
function noteSecret({ note }: Context, { forwardTo }: Listening, secret: string): void {
  if (forwardTo !== undefined)
    note(
      `Deliveries are signed with ${secret}: give this secret to your receiver, or use --follow with its own in BURSAR_WEBHOOK_SECRET.`,
    );
}

async function receiveOrFollow(context: Context, listening: Listening): Promise<void> {
  const bursar = await context.bursar();
  let endpoint: OwnEndpoint | undefined;
  const secrets = () => (endpoint === undefined ? [] : [endpoint.secret]);
  const receiver = await startReceiver({ ...listening, secrets, onDelivery: listening.show });
  try {
    endpoint = await registerEndpoint(bursar, receiver.url, listening.kinds);
    if (endpoint !== undefined) {
      const { verified, error } = await bursar.webhookEndpoints.verify(endpoint.id);
      if (!verified) throw new CliError(`The endpoint ${endpoint.id} could not be verified: ${error}.`);
      context.note(`Listening on ${receiver.url}, registered as ${endpoint.id}. Press Ctrl-C to stop.`);
      noteSecret(context, listening, endpoint.secret);
      await untilAborted(context.io.signal);
      return;
    }
  } finally {
    await endpoint?.remove(await context.bursarForCleanup()).catch((error: unknown) => {
      if (!isBursarError(error)) throw error;
      context.note(`The endpoint could not be removed and stays registered: ${error.message}`);
    });
    await receiver.close();
  }
  context.note("The service sends nothing to addresses on this machine.");
  await followAndSign(context, listening, undefined);
}

/** Each event as the service would deliver it, signed here. */
async function followAndSign(
  context: Context,
  listening: Listening,
  given: string | undefined,
): Promise<void> {
  const { note, io } = context;
  const secret = given || `whsec_${randomBytes(32).toString("base64")}`;
  note(`Following the events of ${(await context.target()).url}. Press Ctrl-C to stop.`);
  if (!given) noteSecret(context, listening, secret);
  const kinds = listening.kinds as BursarEvent["event"][];
  const options = { ...(kinds.length === 0 ? {} : { kinds }), signal: io.signal };
  for await (const found of (await context.bursar()).events.follow(options)) {
    if (found.type === "gap") note(`Events are missing (${found.reason}).`);
    else await deliver(found.event, secret, listening);
  }
}

async function deliver(
  event: BursarEvent,
  secret: string,
  { forwardTo, show, status }: Listening,
): Promise<void> {
  const body = { ...event, delivery_id: `local_${event.sequence}` };
  const { headers, rawBody } = await signTestWebhook({ body, secrets: [secret] });
  const answer = forwardTo === undefined ? undefined : await forward(forwardTo, headers, rawBody);
  show({
    at: new Date(),
    body: rawBody,
    attempt: "1",
    fault: undefined,
    isLocal: true,
    isRepeated: false,
    status: answer?.status ?? status,
    forwarded: answer && { latencyMs: answer.latencyMs, answer: answer.body.toString("utf8") },
  });
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
