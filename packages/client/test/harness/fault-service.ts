import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What can go wrong with one request. Those with "after" happen when the payment is committed. */
export const faults = [
  "none",
  "lost before the commit",
  "lost after the commit",
  "half a body after the commit",
  "stalled body after the commit",
  "stalled before the commit",
  "429 for a day",
  "429 for a second",
  "408",
  "500 before the commit",
  "500 after the commit",
  "503 after the commit",
  "502 in HTML",
  "wrong JSON after the commit",
  "HTML after the commit",
  "closed keep-alive",
] as const;
export type Fault = (typeof faults)[number];

export interface FaultService {
  url: string;
  /** The committed payments by their idempotency keys, as the real service stores them: one for each key. */
  payments: Map<string, { id: string; reference: string }>;
  /** How many requests the service has stopped answering and keeps open. */
  stalled: () => number;
  close: () => Promise<void>;
}

/** An HTTP server that accepts payments and fails as its script says. */
export async function startFaultService(nextFault: () => Fault): Promise<FaultService> {
  const payments: FaultService["payments"] = new Map();
  let stalled = 0;

  function commit(request: IncomingMessage, body: string): { id: string; reference: string } {
    const key = String(request.headers["idempotency-key"]);
    const payment = payments.get(key) ?? {
      id: `tx_${payments.size + 1}`,
      reference: JSON.parse(body).reference,
    };
    payments.set(key, payment);
    return payment;
  }

  function stall(response: ServerResponse): void {
    stalled += 1;
    response.once("close", () => {
      stalled -= 1;
    });
  }

  function play(fault: Fault, request: IncomingMessage, response: ServerResponse, body: string): void {
    const send = (status: number, text: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    const refuse = (status: number, code: string, headers: Record<string, string> = {}) =>
      send(
        status,
        JSON.stringify({ error: { code, message: code, request_id: "req_1", doc_url: "" } }),
        headers,
      );
    const lose = () => request.socket.destroy();
    const before: Partial<Record<Fault, () => unknown>> = {
      "lost before the commit": lose,
      "stalled before the commit": () => stall(response),
      "429 for a day": () => refuse(429, "RATE_LIMITED", { "retry-after": "86400" }),
      "429 for a second": () => refuse(429, "RATE_LIMITED", { "retry-after": "1" }),
      "408": () => refuse(408, "REQUEST_TIMEOUT"),
      "500 before the commit": () => refuse(500, "INTERNAL_ERROR"),
      "502 in HTML": () => send(502, "<html>Bad Gateway</html>", { "content-type": "text/html" }),
    };
    const beginning = before[fault];
    if (beginning !== undefined) {
      beginning();
      return;
    }
    const text = JSON.stringify({ ...commit(request, body), state: "accepted" });
    const begin = (then: () => void) => {
      response.writeHead(202, { "content-type": "application/json", "content-length": `${text.length}` });
      response.write(text.slice(0, 5), then);
    };
    const after: Partial<Record<Fault, () => unknown>> = {
      "lost after the commit": lose,
      "500 after the commit": () => refuse(500, "INTERNAL_ERROR"),
      "503 after the commit": () => refuse(503, "UNAVAILABLE"),
      "wrong JSON after the commit": () => send(202, `${text.slice(0, -1)},}`),
      "HTML after the commit": () => send(202, "<html>Hello</html>", { "content-type": "text/html" }),
      "half a body after the commit": () => begin(lose),
      "stalled body after the commit": () => begin(() => stall(response)),
      // The client believes that it can use the connection again.
      "closed keep-alive": () => send(202, text).once("finish", lose),
    };
    (after[fault] ?? (() => send(202, text)))();
  }

  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.once("end", () => play(nextFault(), request, response, body));
    request.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments,
    stalled: () => stalled,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
