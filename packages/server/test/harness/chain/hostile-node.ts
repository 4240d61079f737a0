import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface HostileNode {
  readonly url: string;
  /** What arrived, request by request. */
  readonly requests: (readonly Call[])[];
  readonly isBatch: boolean[];
}

/** Answers a request of these calls; `reply` sends JSON. */
type Answer = (
  calls: readonly Call[],
  reply: (body: unknown, status?: number, headers?: Record<string, string>) => void,
  response: ServerResponse,
  request: IncomingMessage,
) => void;

/** A node that answers in any way, for what the development chain cannot do. It ends with the test. */
export async function startHostileNode(answer: Answer): Promise<HostileNode> {
  const requests: (readonly Call[])[] = [];
  const isBatch: boolean[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call | Call[];
    isBatch.push(Array.isArray(body));
    const calls = [body].flat();
    requests.push(calls);
    const reply = (given: unknown, status = 200, headers: Record<string, string> = {}) =>
      void response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(given));
    answer(calls, reply, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, isBatch };
}

/** An answer with a result for each call, as JSON-RPC wants it. */
export function resultsOf(calls: readonly Call[], result: (call: Call) => unknown): unknown {
  const answers = calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: result(call) }));
  return answers.length === 1 ? answers[0] : answers;
}
