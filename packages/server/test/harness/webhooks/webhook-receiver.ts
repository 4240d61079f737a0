import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../eventually.js";

interface ReceivedWebhook {
  path: string;
  headers: IncomingHttpHeaders & Record<string, string>;
  text: string;
  body: {
    event: string;
    delivery_id: string;
    sequence: number;
    occurred_at: string;
    // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect.
    data: any;
  };
}

/** Answers a delivery; what it leaves open hangs. */
export type Answerer = (received: ReceivedWebhook, response: ServerResponse) => void;

export interface WebhookReceiver {
  url: string;
  /** Everything that has arrived, in order. */
  received: ReceivedWebhook[];
  /** The challenges that it has answered; they are not among what has arrived. */
  challenges: ReceivedWebhook[];
  /** What has arrived at one path, once it is so many. */
  arrived: (path: string, count: number) => Promise<ReceivedWebhook[]>;
  answerWith: (answerer: Answerer) => void;
  stop: () => Promise<void>;
}

export const ok: Answerer = (_received, response) => response.end("thanks");

/** An answer with this status, and these headers. */
export const status =
  (code: number, headers: Record<string, string> = {}): Answerer =>
  (_received, response) =>
    response.writeHead(code, headers).end(`status ${code}`);

/** A real receiver on this machine, which keeps what it receives and answers as configured. */
export async function startWebhookReceiver(answerer: Answerer = ok): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const challenges: ReceivedWebhook[] = [];
  let answer = answerer;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const one = {
        path: request.url ?? "",
        headers: request.headers as ReceivedWebhook["headers"],
        text,
        body: JSON.parse(text),
      };
      if (one.body.event === "endpoint.challenge") {
        challenges.push(one);
        response.end(one.body.data.challenge);
        return;
      }
      received.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    challenges,
    arrived: (path, count) =>
      eventually(
        () => received.filter((one) => one.path === path),
        (found) => found.length >= count,
      ),
    answerWith: (changed) => {
      answer = changed;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
