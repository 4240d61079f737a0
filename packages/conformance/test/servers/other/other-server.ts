import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Answer,
  answer,
  answerAgain,
  isGone,
  isTokenOf,
  OtherRefusal,
  parseObject,
  readKey,
} from "./other-answers.js";
import type { Chose, OtherChoiceName } from "./other-choices.js";
import { checkMembers } from "./other-members.js";
import {
  amountOf,
  behindChoices,
  carriedOutChoices,
  envelopeOf,
  feeChoices,
  feeOf,
  idsElsewhere,
  isStateRenamed,
  keysIgnored,
  newOrderId,
  orderHeader,
  showBook,
  showMembers,
  twiceChoices,
} from "./other-shown.js";
import { createOtherWebhooks } from "./other-webhooks.js";

/**
 * A correct implementation that differs from Bursar in everything that the contract leaves open: ids only in `Location`, other state
 * names, other statuses for refusals, the items of a notification in headers, another signature, further fields everywhere, seconds until a
 * result, and an error for a repeated key. If it fails a check, the check tests Bursar and not the contract.
 */
export interface OtherServer {
  readonly url: string;
  /** Serves a connection that was not made to its address. */
  readonly accept: (connection: Duplex) => void;
  readonly stop: () => Promise<void>;
}

export const otherTokens = { own: "OTHER~01~abcdefghijklmnop", revoked: "OTHER~02~abcdefghijklmnop" };
export interface Order {
  readonly reference: string;
  readonly amount: string;
  readonly createdAt: number;
  /** Policy rejects it when it is processed. */
  readonly isForbidden: boolean;
  /** Of a fee, or of the record of the other wallet. */
  readonly payment?: string;
  status: keyof typeof numbers;
}

const numbers = { RECEIVED: 10, RUNNING: 20, DONE: 30, REFUSED: 40 };

/** Seconds until a result; with one of the choices less, because there are many of them. */
const stepMs = { usual: 1000, chosen: 60, slow: 450 };
/** Shorter than the steps of that choice: what is announced can be read. */
const foundAfterMs = 300;
const behindMs = 400;
/** Shorter than the steps until a result. */
const replicatedAfterMs = 100;
/** So long a request takes that others are refused meanwhile. */
const busyMs = 10;
/** One of so many transactions is carried out twice. */
const twiceEach = 30;
const confirmations = 3;
const requestsOfQuota = 60;

/** `connectReceiver` makes a connection to the receiver of notifications, if it is in the same process. */
export async function startOtherServer(
  choice?: OtherChoiceName,
  connectReceiver?: () => Duplex,
): Promise<OtherServer> {
  const chose: Chose = (name) => name === choice;
  const orders = new Map<string, Order>();
  /** The id of what was accepted, or the refusal. */
  const keys = new Map<string, string | OtherRefusal>();
  const references = new Set<string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  // Each order that is processed listens to it.
  setMaxListeners(0, signal);
  const { hooks, announce } = createOtherWebhooks(chose, signal, connectReceiver);
  let requests = 0;
  let created = 0;
  const isRenamed = isStateRenamed(chose);
  const envelope = envelopeOf(chose);

  const hasNoId =
    chose("no id in the 202") ||
    chose("no id in the 202, and notifications that name the reference") ||
    chose("no id in the 202, and notifications that name it where the target file says") ||
    idsElsewhere.some(chose);
  const hasOutcome =
    chose("an outcome in the 202 that the target file does not name") ||
    chose("an outcome in the 202 that the target file names");
  const isBehind = behindChoices.some(chose);
  const isLenient = chose(
    "ids with spaces, bytes that are not UTF-8, comments in JSON, and a page of a gateway for what is no URI",
  );
  const isOneAtATime = chose("one request at a time, and replicas that are behind");
  const announcesAgain = chose(
    "repetitions that are announced again, in notifications that name only the reference",
  );

  const statusOf = ({ status }: Order) => (chose("states that are numbers") ? numbers[status] : status);

  const process = async (id: string, order: Order) => {
    const isSlow =
      chose("a sender that waits only half a second") ||
      chose("transactions that are found some time after the 202");
    const chosenMs = order.payment !== undefined ? 0 : isSlow ? stepMs.slow : stepMs.chosen;
    const waitMs = choice === undefined ? stepMs.usual : chosenMs;
    for (const status of ["RUNNING", order.isForbidden ? "REFUSED" : "DONE"] as const) {
      await delay(waitMs, undefined, { signal });
      if (isBehind) {
        announce({ id, ...order, status });
        await delay(behindMs, undefined, { signal });
      }
      order.status = status;
      const isAnnounced = !isBehind && !(announcesAgain && status === "RUNNING");
      if (isAnnounced) announce({ id, ...order, status: statusOf(order) });
      if (status === "RUNNING" && chose("several updates with the same state"))
        for (let count = 1; count <= confirmations; count += 1)
          announce({ id, ...order, status: statusOf(order), confirmations: count });
    }
  };

  const repeat = (id: string): Answer => {
    const again = answerAgain(chose, id);
    if (again !== undefined) return again;
    const order = orders.get(id);
    if (order !== undefined && announcesAgain) {
      announce({ id, ...order, status: order.status });
      return { status: 202, headers: { location: `/v1/transactions/${id}` } };
    }
    if (order !== undefined && carriedOutChoices.some(chose))
      add({ ...order, createdAt: performance.now(), status: "RECEIVED" });
    throw new OtherRefusal(409, "ALREADY_SENT");
  };

  const add = (order: Order): string => {
    const id = newOrderId(chose, orders.size);
    orders.set(id, order);
    process(id, order).catch(() => undefined);
    if (feeChoices.some(chose)) {
      const [fee, feeId] = [feeOf(chose, id, order), randomUUID()];
      orders.set(feeId, fee);
      process(feeId, fee).catch(() => undefined);
    }
    return id;
  };

  const create = (incoming: IncomingMessage, body: string): Answer => {
    if (!isTokenOf(chose, incoming, otherTokens.own)) throw new OtherRefusal(403, "WHO_ARE_YOU");
    const members = parseObject(incoming, isLenient ? body.replace("/* paid */", "") : body);
    const key = readKey(chose, incoming.headers["idempotency-key"]);
    const slot = chose("key and body together identify a request") ? `${key} ${body}` : key;
    const known = chose(keysIgnored) ? undefined : keys.get(slot);
    if (typeof known === "string") return repeat(known);
    if (known !== undefined) throw known;
    const [reference, amount] = [String(members["reference"]), amountOf(chose, members)];
    try {
      checkMembers(chose, members, isLenient);
      if (chose("references that are used once") && references.has(reference))
        throw new OtherRefusal(409, "REFERENCE_USED");
    } catch (error) {
      if (chose("refusals remembered under their key")) keys.set(slot, error as OtherRefusal);
      throw error;
    }
    const isForbidden = ["forbidden", "doomed"].includes(String(members["purpose"]));
    const id = add({ reference, amount, createdAt: performance.now(), isForbidden, status: "RECEIVED" });
    created += 1;
    if (twiceChoices.some(chose) && created % twiceEach === 0)
      add({ ...orders.get(id), status: "RECEIVED" } as Order);
    keys.set(slot, id);
    references.add(reference);
    if (hasNoId) return { status: 202 };
    const self = `http://elsewhere.example/svc/v1/transactions/${id}`;
    if (chose("an address of the transaction in the body of the 202"))
      return { status: 202, body: { links: [{ self }] } };
    return {
      status: 202,
      headers: orderHeader(chose, id) ?? {
        location: `https://elsewhere.example/v1/transactions/${id}?view=full`,
      },
      ...(envelope === undefined ? {} : { body: { status: envelope } }),
      ...(hasOutcome ? { body: { outcome: "success" } } : {}),
    };
  };

  const route = (incoming: IncomingMessage, body: string): Answer => {
    const { method, url = "" } = incoming;
    requests += 1;
    if (chose("a quota answered with 503") && requests % requestsOfQuota === 0)
      throw new OtherRefusal(503, "QUOTA_EXCEEDED");
    if (method === "POST" && url === "/v1/transactions") return create(incoming, body);
    const id = /^\/v1\/transactions\/([^/]+)$/.exec(url)?.[1]?.replaceAll("%2F", "/");
    if (method === "GET" && id !== undefined) {
      if (isLenient && url.endsWith("%zz")) return { status: 400, text: "<html>Bad Request</html>" };
      const order = orders.get(isLenient ? id.replaceAll("%20", "") : id);
      const isHidden = (one: Order) => {
        const ageMs = performance.now() - one.createdAt;
        if (isOneAtATime) return requests % 2 === 0 && ageMs < replicatedAfterMs;
        return chose("transactions that are found some time after the 202") && ageMs < foundAfterMs;
      };
      if (order === undefined || isHidden(order)) throw new OtherRefusal(410, "GONE_OR_NEVER_THERE");
      if (chose("a state that is the whole body")) return { status: 200, text: order.status };
      const shown = showMembers(chose, id, order);
      if (chose("a state that is a boolean"))
        return { status: 200, body: { data: { final: order.status === "DONE" } } };
      const data = { [isRenamed ? "phase" : "status"]: statusOf(order), ...shown, extra: [1, 2] };
      return { status: 200, body: { status: envelope, data, links: {} } };
    }
    if (method === "POST" && url === "/v1/wallets") {
      parseObject(incoming, body);
      return { status: 202, body: { ticket: randomUUID() } };
    }
    const isBare = url === "/orderbook" && chose("a book in CSV, also without the prefix");
    if (method === "GET" && (url === "/v1/orderbook" || isBare)) return showBook(chose);
    if (method === "PUT" && url.startsWith("/hooks/")) {
      hooks.set(url, (JSON.parse(body) as { target: string }).target);
      return { status: 200, body: { name: url } };
    }
    if (method === "POST" && url.startsWith("/hooks/") && hooks.delete(url.replace("/off", "")))
      return { status: 200 };
    throw new OtherRefusal(url.startsWith("/v1/orderbook") ? 501 : 400, "NO_SUCH_THING");
  };

  const used = new WeakSet<object>();
  let isBusy = false;
  const server = createServer(async (incoming, response) => {
    if (chose("connections that are closed when they are idle") && used.has(incoming.socket)) {
      incoming.socket.destroy();
      return;
    }
    used.add(incoming.socket);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const isRefused = isOneAtATime && isBusy && incoming.method === "POST";
    if (isOneAtATime && !isRefused && incoming.method === "POST") {
      isBusy = true;
      await delay(busyMs);
      isBusy = false;
    }
    const { status, headers, body, text } = answer(chose, () => {
      if (isRefused) throw new OtherRefusal(409, "ONE_AT_A_TIME");
      return route(incoming, Buffer.concat(chunks).toString("utf8"));
    });
    if (chose("keys that are forgotten if the client hangs up") && (await isGone(incoming)))
      keys.delete(String(incoming.headers["idempotency-key"]));
    const type = text === undefined ? "application/vnd.other+json" : "text/csv";
    const all = Object.entries({ "content-type": type, ...headers }).filter(([, value]) => value !== "");
    response.writeHead(status, Object.fromEntries(all));
    const isMarked =
      status < 300 ? "JSON with a byte order mark, except in errors" : "errors with a byte order mark";
    const mark = chose(isMarked) ? "\uFEFF" : "";
    response.end(text ?? (body === undefined ? undefined : mark + JSON.stringify(body, null, 2)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accept: (connection) => void server.emit("connection", connection),
    stop: () =>
      new Promise((resolve) => {
        stopping.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
