import { createHmac, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * A correct implementation that differs from Bursar in everything that the contract leaves open: ids only in `Location`, other state
 * names, other statuses for refusals, the items of a notification in headers, another signature, further fields everywhere, seconds until a
 * result, and an error for a repeated key. If it fails a check, the check tests Bursar and not the contract.
 */
export interface OtherServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export const otherTokens = { own: "OTHER~01~abcdefghijklmnop", revoked: "OTHER~02~abcdefghijklmnop" };
export const otherSecret = "the-secret-of-the-other-server";

interface Order {
  readonly key: string;
  readonly body: string;
  status: "RECEIVED" | "RUNNING" | "DONE";
}

class OtherRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(`Refused: ${code.toLowerCase().replaceAll("_", " ")}.`);
    this.status = status;
    this.code = code;
  }
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

const stepMs = 1000;
const retryMs = 50;
const attemptsMax = 20;

export async function startOtherServer(): Promise<OtherServer> {
  const orders = new Map<string, Order>();
  const hooks = new Map<string, string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  // Each order that is processed listens to it.
  setMaxListeners(0, signal);

  const post = (url: string, headers: Record<string, string>, body: string): Promise<boolean> =>
    new Promise((resolve) => {
      const outgoing = request(url, { method: "POST", headers, agent: false, signal }, (response) => {
        response.resume();
        resolve((response.statusCode ?? 500) < 300);
      });
      outgoing.on("error", () => resolve(false));
      outgoing.end(body);
    });

  const announce = async (id: string, order: Order) => {
    const body = `{ "resource" : "/v1/transactions/${id}",  "snapshot":{"status":"${order.status}","x":1.50} }`;
    const deliveryId = randomUUID();
    for (const url of hooks.values())
      for (let attempt = 0; attempt < attemptsMax && !signal.aborted; attempt += 1) {
        const stamp = String(Date.now());
        const signature = createHmac("sha512", otherSecret).update(`${stamp}|${body}`).digest("hex");
        const items = { "X-Other-Event": "transaction.updated", "X-Other-Delivery-Id": deliveryId };
        const headers = { ...items, "X-Other-Stamp": stamp, "X-Other-Signature": `v9=${signature}` };
        if (await post(url, headers, body)) break;
        await delay(retryMs);
      }
  };

  const process = async (id: string, order: Order) => {
    for (const status of ["RUNNING", "DONE"] as const) {
      await delay(stepMs, undefined, { signal });
      order.status = status;
      void announce(id, order);
    }
  };

  const create = (incoming: IncomingMessage, body: string): Answer => {
    if (incoming.headers.authorization !== `Bearer ${otherTokens.own}`)
      throw new OtherRefusal(403, "WHO_ARE_YOU");
    const members = parseObject(incoming, body);
    const key = incoming.headers["idempotency-key"];
    if (typeof key !== "string" || key === "") throw new OtherRefusal(428, "KEY_NEEDED");
    for (const name of ["reference", "asset", "amount"])
      if (typeof members[name] !== "string") throw new OtherRefusal(422, "STRING_NEEDED");
    if (!/^\d+(\.\d+)?$/.test(String(members["amount"]))) throw new OtherRefusal(422, "DECIMAL_NEEDED");
    if (!/^[\x20-\x7e]+$/.test(String(members["reference"]))) throw new OtherRefusal(422, "ASCII_NEEDED");
    if (members["purpose"] === "forbidden") throw new OtherRefusal(451, "POLICY_REJECTED");
    if ([...orders.values()].some((order) => order.key === key)) throw new OtherRefusal(409, "ALREADY_SENT");
    const id = randomUUID();
    const order: Order = { key, body, status: "RECEIVED" };
    orders.set(id, order);
    process(id, order).catch(() => undefined);
    return {
      status: 202,
      headers: { location: `https://elsewhere.example/v1/transactions/${id}?view=full` },
    };
  };

  const route = (incoming: IncomingMessage, body: string): Answer => {
    const { method, url = "" } = incoming;
    if (method === "POST" && url === "/v1/transactions") return create(incoming, body);
    const id = /^\/v1\/transactions\/([^/]+)$/.exec(url)?.[1];
    if (method === "GET" && id !== undefined) {
      const order = orders.get(id);
      if (order === undefined) throw new OtherRefusal(410, "GONE_OR_NEVER_THERE");
      return { status: 200, body: { data: { status: order.status, extra: [1, 2] }, links: {} } };
    }
    if (method === "POST" && url === "/v1/wallets") {
      parseObject(incoming, body);
      return { status: 202, body: { ticket: randomUUID() } };
    }
    if (method === "GET" && url === "/v1/orderbook") return { status: 200, body: [] };
    if (method === "PUT" && url.startsWith("/hooks/")) {
      hooks.set(url, (JSON.parse(body) as { target: string }).target);
      return { status: 200, body: { name: url } };
    }
    if (method === "POST" && url.startsWith("/hooks/") && hooks.delete(url.replace("/off", "")))
      return { status: 200 };
    throw new OtherRefusal(url.startsWith("/v1/orderbook") ? 501 : 400, "NO_SUCH_THING");
  };

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { status, headers, body } = answer(() => route(incoming, Buffer.concat(chunks).toString("utf8")));
    response.writeHead(status, { "content-type": "application/vnd.other+json", ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body, null, 2));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        stopping.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(act: () => Answer): Answer {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof OtherRefusal)) throw error;
    const { status, code, message } = error;
    return {
      status,
      body: {
        error: { code, message, request_id: randomUUID(), help: "https://elsewhere.example", more: {} },
      },
    };
  }
}

function parseObject({ headers }: IncomingMessage, body: string): Record<string, unknown> {
  if (headers["content-type"] !== "application/json") throw new OtherRefusal(406, "JSON_ONLY");
  try {
    const value = JSON.parse(body) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new OtherRefusal(400, "BAD_JSON");
}
