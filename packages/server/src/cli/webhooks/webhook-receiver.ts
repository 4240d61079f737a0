import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Verification, verifyStandardWebhook, verifyWebhookMessage } from "@bursar/protocol";
import { webhookHashes } from "../../app/webhooks/webhook-hashes.js";
import { OperatorError } from "../../operator-error.js";
import type { ReceivedDelivery } from "./delivery-line.js";

export interface WebhookReceiver {
  /** Its address, on the loopback interface only. */
  url: string;
  close: () => Promise<void>;
}

export interface WebhookReceiverOptions {
  port: number;
  /** The currently known secrets. */
  secrets: () => readonly Uint8Array[];
  status: number;
  delayMs: number;
  /** Another receiver that gets each delivery too; its response is then the response. */
  forwardTo: string | undefined;
  onDelivery: (delivery: ReceivedDelivery) => void;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer;
}

const bodyBytesMax = 1_048_576;
const toleranceSeconds = 300;
const forwardTimeoutMs = 15_000;
const rememberedIdsMax = 10_000;

/**
 * A webhook receiver for development: it verifies each delivery, reports it, and responds as configured. One that does not verify is
 * refused and not forwarded, as by a real receiver: a wrong secret must not look like success to the sender.
 */
export async function startWebhookReceiver(options: WebhookReceiverOptions): Promise<WebhookReceiver> {
  const seenIds = new Set<string>();
  const receive = async (request: IncomingMessage): Promise<Answer> => {
    const body = await readBody(request);
    if (body === undefined) return { status: 413 };
    const headers = flatHeaders(request);
    const id = headers["webhook-id"] ?? "";
    const verification = verify(headers, body, options.secrets());
    const challenge = verification.verified ? challengeOf(body) : undefined;
    // Answered here and not forwarded, so that the endpoint can be used before the other receiver runs.
    if (challenge !== undefined) return { status: 200, body: Buffer.from(challenge) };
    await sleep(options.delayMs);
    const answer = verification.verified
      ? await answerVerified(options, headers, body)
      : refuse(headers, verification.reason);
    const { status } = answer;
    options.onDelivery({ at: new Date(), headers, body, verification, isRepeated: seenIds.has(id), status });
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

async function answerVerified(
  { forwardTo, status }: WebhookReceiverOptions,
  headers: Record<string, string | undefined>,
  body: string,
): Promise<Answer> {
  return forwardTo === undefined ? { status } : await forward(forwardTo, headers, body);
}

/** 400 if it is not a webhook at all, otherwise 401. */
function refuse(headers: Readonly<Record<string, string | undefined>>, reason: string): Answer {
  const isWebhook = ["webhook-id", "webhook-timestamp", "webhook-signature"].every((name) => headers[name]);
  const body = Buffer.from(`${reason}\n`);
  return { status: isWebhook ? 401 : 400, headers: { "content-type": "text/plain" }, body };
}

/** Checks both signatures. One is enough for a real receiver, but this one is for finding mistakes. */
function verify(
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
  secrets: readonly Uint8Array[],
): Verification {
  const clock = { nowSeconds: Math.floor(Date.now() / 1000), toleranceSeconds };
  const standard = verifyStandardWebhook(
    {
      id: headers["webhook-id"] ?? "",
      timestamp: headers["webhook-timestamp"] ?? "",
      signature: headers["webhook-signature"] ?? "",
      body,
      secrets,
    },
    clock,
    webhookHashes,
  );
  return standard.verified
    ? verifyWebhookMessage({ headers, body, secrets }, clock, webhookHashes)
    : standard;
}

/** The challenge of an `endpoint.challenge`; undefined for any other event. */
function challengeOf(body: string): string | undefined {
  try {
    const { event, data } = JSON.parse(body);
    return event === "endpoint.challenge" ? String(data.challenge) : undefined;
  } catch {
    return undefined;
  }
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

/** Headers that belong to the connection and are not forwarded. */
const hopByHop = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "expect",
]);

/** The response headers that the sender evaluates. */
const passedBack = ["content-type", "retry-after"];

/** The response of the other receiver; 502 if it does not answer. */
async function forward(
  url: string,
  headers: Record<string, string | undefined>,
  body: string,
): Promise<Answer> {
  const passedOn = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || hopByHop.has(name) ? [] : [[name, value]],
  );
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: passedOn,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(forwardTimeoutMs),
    });
    const answered = passedBack.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return {
      status: response.status,
      headers: Object.fromEntries(answered),
      body: Buffer.from(await response.arrayBuffer()),
    };
  } catch {
    return { status: 502 };
  }
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new OperatorError(`Cannot listen on port ${port}. Choose another one with --port.`, { cause }));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}
