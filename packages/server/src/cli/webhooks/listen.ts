import { styleText } from "node:util";
import { type EventKind, eventKinds, parseWebhookSecret } from "@bursar/protocol";
import { type Command, InvalidArgumentError, Option } from "commander";
import { OperatorError } from "../../operator-error.js";
import { sandboxClient } from "../sandbox/sandbox-credentials.js";
import { deliveryLine, isOfKinds, type LineStyle, payloadLines, plainStyle } from "./delivery-line.js";
import { registerSandboxEndpoint, type SandboxEndpoint } from "./sandbox-endpoint.js";
import { startWebhookReceiver } from "./webhook-receiver.js";

interface ListenOptions {
  port: number;
  secret?: Uint8Array;
  client: string;
  events?: readonly EventKind[];
  print: boolean;
  status: number;
  delay: number;
  forwardTo?: string;
}

const colours: LineStyle = {
  good: (text) => styleText("green", text),
  bad: (text) => styleText("red", text),
  dim: (text) => styleText("dim", text),
};

export function addWebhooksCommand(program: Command): void {
  const webhooks = program.command("webhooks").description("receive webhooks on this machine");
  webhooks
    .command("listen")
    .description(
      "receive, verify and print webhooks: those of the running sandbox, or with --secret those of any endpoint",
    )
    .option("--port <number>", "the port to listen on; 0 picks a free one", numberArgument(0, 65_535), 8090)
    .addOption(
      // Every user of the machine can see arguments; the variable is for secrets that matter.
      new Option("--secret <whsec_…>", "the secret of an endpoint that is already registered")
        .env("BURSAR_WEBHOOK_SECRET")
        .argParser(secretArgument),
    )
    .option("--client <name>", "which of the sandbox's clients to receive for", "sandbox")
    .option("--events <kinds>", "only these kinds of events, separated by commas", kindsArgument)
    .option("--print", "print the payload of each delivery too", false)
    .option(
      "--status <code>",
      "the status to respond with to a delivery that verifies",
      numberArgument(200, 599),
      200,
    )
    .option("--delay <ms>", "the delay before the response", numberArgument(0, 600_000), 0)
    .option(
      "--forward-to <url>",
      "forward each delivery that verifies, and respond with what that receiver responds",
      urlArgument,
    )
    .action(listen);
}

async function listen(options: ListenOptions): Promise<void> {
  const { port, secret, client, events, status, delay, forwardTo } = options;
  const stopped = untilStopped();
  const style = isColourWanted() ? colours : plainStyle;
  let endpoint: SandboxEndpoint | undefined;
  const receiver = await startWebhookReceiver({
    port,
    secrets: () => [secret ?? endpoint?.secret].filter((known) => known !== undefined),
    status,
    delayMs: delay,
    forwardTo,
    onDelivery: (delivery) => {
      // What does not verify is always shown: its kind is a claim of its sender.
      if (delivery.verification.verified && !isOfKinds(delivery, events)) return;
      console.log(deliveryLine(delivery, style));
      if (options.print) for (const line of payloadLines(delivery)) console.log(style.dim(`    ${line}`));
    },
  });
  try {
    if (secret === undefined) {
      endpoint = await registerSandboxEndpoint(sandboxClient(client), receiver.url, events);
      await endpoint.verify();
    }
    const registered = endpoint === undefined ? "" : `, registered as ${endpoint.id}`;
    console.log(`Listening on ${receiver.url}${registered}. Press Ctrl-C to stop.`);
    await stopped;
    await endpoint?.remove().catch(explainLeftover);
  } finally {
    await receiver.close();
  }
}

/** The service may have stopped before the receiver; the next run finds the endpoint and reuses it. */
function explainLeftover(error: unknown): void {
  if (!(error instanceof OperatorError)) throw error;
  console.error(`bursar: The endpoint could not be removed and stays registered. ${error.message}`);
}

async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      // A second signal exits at once, because the default handler is back.
      process.once(name, () => resolve());
    }
    // Nobody reads what it prints any more.
    process.stdout.once("error", () => resolve());
  });
}

function isColourWanted(): boolean {
  return process.stdout.isTTY === true && !process.env["NO_COLOR"];
}

function numberArgument(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`The value must be a whole number from ${min} to ${max}.`);
  };
}

function kindsArgument(text: string): EventKind[] {
  const kinds = text.split(",").map((kind) => kind.trim());
  const unknown = kinds.find((kind) => !(eventKinds as readonly string[]).includes(kind));
  if (unknown === undefined) return [...new Set(kinds)] as EventKind[];
  throw new InvalidArgumentError(`The kinds are ${eventKinds.join(", ")}.`);
}

function secretArgument(text: string): Uint8Array {
  const secret = parseWebhookSecret(text);
  if (secret === undefined) throw new InvalidArgumentError("A secret is whsec_ followed by base64.");
  return secret;
}

function urlArgument(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "http:" || protocol === "https:") return text;
  throw new InvalidArgumentError("The value must be a URL that begins with http:// or https://.");
}
