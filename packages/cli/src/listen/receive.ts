import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { verifyWebhook, WebhookError } from "@bursar/client/webhooks";
import { CliError } from "../exit-codes.js";
import type { ShownDelivery } from "./delivery-line.js";
import { type Answer, forward } from "./forward.js";

export interface ReceiveOptions {
  port: number;
  /** The secrets that are known now. */
  secrets: () => readonly string[];
  status: number;
  delayMs: number;
  /** Another receiver that gets each delivery; its answer is then the answer. */
  forwardTo: string | undefined;
  onDelivery: (delivery: ShownDelivery) => void;
}

const bodyBytesMax = 1_048_576;
const rememberedIdsMax = 10_000;

/**
 * A receiver for development, on the loopback interface only. A delivery that does not verify is refused and not forwarded: a wrong secret
 * must not look like success to the sender.
 */
export async function startReceiver(
  options: ReceiveOptions,
): Promise<{ url: string; close: () => Promise<void> }> {
  const seenIds = new Set<string>();
  const receive = async (
    request: IncomingMessage,
  ): Promise<Omit<Answer, "headers"> & { headers?: Record<string, string> }> => {
    const body = await readBody(request);
    if (body === undefined) return { status: 413, body: Buffer.alloc(0) };
    const headers = flatHeaders(request);
    const id = headers["webhook-id"] ?? "";
    const verdict = await verify(headers, body, options.secrets());
    // Answered here and not forwarded, so that the endpoint can be used before the other receiver runs.
    if ("challenge" in verdict) return { status: 200, body: Buffer.from(verdict.challenge) };
    await sleep(options.delayMs);
    const { fault } = verdict;
    const forwarded =
      fault === undefined && options.forwardTo !== undefined
        ? await forward(options.forwardTo, headers, body)
        : undefined;
    const answer =
      forwarded ??
      (fault === undefined ? { status: options.status, body: Buffer.alloc(0) } : refuse(headers, fault));
    options.onDelivery({
      at: new Date(),
      body,
      attempt: headers["webhook-attempt"] ?? "?",
      fault,
      isLocal: false,
      isRepeated: seenIds.has(id),
      status: answer.status,
      forwarded: forwarded && { latencyMs: forwarded.latencyMs, answer: forwarded.body.toString("utf8") },
    });
    if (seenIds.size < rememberedIdsMax) seenIds.add(id);
    return answer;
  };
  const server = createServer((request, response) => {
    receive(request).then(
      ({ status, headers = {}, body }) => response.writeHead(status, headers).end(body),
      // The sender closed the connection before the end of the request.
      () => response.destroy(),
    );
  });
  const port = await listen(server, options.port);
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function verify(
  headers: Record<string, string | undefined>,
  rawBody: string,
  secrets: readonly string[],
): Promise<{ challenge: string } | { fault: string | undefined }> {
  try {
    const notification = await verifyWebhook({ headers, rawBody, secrets });
    return notification.event === "endpoint.challenge"
      ? { challenge: notification.data.challenge }
      : { fault: undefined };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { fault: error.message.replace(/\.$/, "") };
  }
}

/** 400 if it is not a webhook at all, otherwise 401. */
function refuse(headers: Readonly<Record<string, string | undefined>>, fault: string) {
  const isWebhook = ["webhook-id", "webhook-timestamp", "webhook-signature"].every((name) => headers[name]);
  return {
    status: isWebhook ? 401 : 400,
    headers: { "content-type": "text/plain" },
    body: Buffer.from(`${fault}\n`),
  };
}

/** The whole body; undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function flatHeaders({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(
        new CliError(`Cannot listen on port ${port}. Choose another one with --port.`, "usage", { cause }),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}
