import { createHmac, randomUUID } from "node:crypto";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Chose } from "./other-choices.js";

export const otherSecret = "the-secret-of-the-other-server";

/** What is announced of an order. */
interface Announcement {
  readonly id: string;
  readonly reference: string;
  readonly status: string | number;
  readonly amount: string;
  readonly payment?: string;
  /** Of updates that leave the state as it is. */
  readonly confirmations?: number;
}

interface Items {
  readonly event: string;
  readonly delivery_id: string;
}

const attemptsMax = 20;
const retryMs = 50;
const lateRetryMs = 60_000;
const shortTimeoutMs = 500;
/** Shorter than the checks wait that wait long. */
const senderTimeoutMs = 2500;

/** Sends notifications, in the form that was chosen, until the receiver answers with 2xx. */
export function createOtherWebhooks(chose: Chose, signal: AbortSignal, connect?: () => Duplex) {
  const hooks = new Map<string, string>();
  const connection = connect === undefined ? { agent: false } : { createConnection: connect };
  const post = (url: string, headers: Record<string, string>, body: string): Promise<boolean> =>
    new Promise((resolve) => {
      const outgoing = request(url, { method: "POST", headers, ...connection, signal }, (response) => {
        response.resume();
        resolve((response.statusCode ?? 500) < 300);
      });
      const isShort = chose("a sender that waits only half a second");
      const timer = setTimeout(() => outgoing.destroy(), isShort ? shortTimeoutMs : senderTimeoutMs);
      outgoing.on("close", () => clearTimeout(timer));
      outgoing.on("error", () => resolve(false));
      outgoing.end(chose("notifications that are compressed") ? gzipSync(body) : body);
    });

  const send = async (event: string, what: Announcement) => {
    const items = { event, delivery_id: deliveryIdOf(chose, what) };
    for (const url of hooks.values())
      for (let attempt = 0; attempt < attemptsMax && !signal.aborted; attempt += 1) {
        const { headers, body } = compose(chose, items, what, attempt);
        if ((await post(url, headers, body)) || chose(large)) {
          if (attempt > 0 || !chose("notifications sent again after 2xx")) break;
        } else
          await delay(chose("retries later than the kit waits") ? lateRetryMs : retryMs, undefined, {
            signal,
          });
      }
  };
  const batch = createBatches(chose, signal, async (items, whats) => {
    for (const url of hooks.values()) {
      const { headers, body } = composeBatch(items, whats);
      if (!(await post(url, headers, body))) return false;
    }
    return true;
  });
  const isBatched = batchChoices.some(chose);
  return {
    hooks,
    announce: (what: Announcement) => {
      if (isBatched) {
        batch(what);
        return;
      }
      const events = ["transaction.updated"];
      if (chose("other event kinds about the same transaction")) events.push("balance.changed");
      for (const event of events) send(event, what).catch(() => undefined);
    },
  };
}

/** Two of the transactions after the first ones share one, if that is the fault. */
const deliveryIdOf = (chose: Chose, { id, status }: Announcement) =>
  chose(smallNumbers[1]) && ["8", "9"].includes(id) && status === "DONE" ? "shared" : randomUUID();

const batchChoices = [
  "notifications in batches",
  "notifications in batches, which the target file does not describe",
  "batches that are put together again when they are retried",
] as const;
/** Also accepts references with a surrogate alone, and announces them with a question mark. */
export const namedMembers = "an amount and a reference in some notifications, which the target file names";
export const understood = "amounts and bytes of other forms, announced as they are understood";
export const halfPairs = "references with half of a surrogate pair, which notifications name";
export const closeDigits = "ids of digits, one after the other, which a double does not tell apart";
export const smallNumbers = [
  "ids of one or two digits, and small numbers in notifications",
  "ids of one or two digits, small numbers in notifications, and delivery_ids that begin again",
] as const;
const large = "notifications larger than the kit reads";
export const twoRecords =
  "a record of the other wallet beside each transaction, and one of many that is carried out twice";
/** References in a header, where they have to be encoded. */
export const headerChoices = [
  "the reference percent-encoded in a header of notifications",
  "the reference in a header of notifications, as RFC 2047 encodes it",
] as const;

function headerWith(chose: Chose, reference: string): string {
  if (chose("the reference percent-encoded in a header of notifications"))
    return encodeURIComponent(reference);
  const isAscii = /^[\x20-\x7e]*$/.test(reference);
  return isAscii ? reference : `=?utf-8?B?${Buffer.from(reference).toString("base64")}?=`;
}

const batchMs = 20;
/** Long enough that others follow on a busy machine as well. */
const regroupMs = 600;

/** Collects what is announced for a short time. A batch that is refused is sent again, as it was or together with what follows. */
function createBatches(
  chose: Chose,
  signal: AbortSignal,
  post: (items: Items, whats: readonly Announcement[]) => Promise<boolean>,
) {
  let waiting: Announcement[] = [];
  let isFlushing = false;
  const flush = async () => {
    await delay(batchMs, undefined, { signal });
    while (waiting.length > 0 && !signal.aborted) {
      const whats = waiting;
      waiting = [];
      const items = { event: "transaction.updated", delivery_id: randomUUID() };
      if (chose("batches that are put together again when they are retried")) {
        if (await post(items, whats)) continue;
        await delay(regroupMs, undefined, { signal });
        waiting = [...whats, ...waiting];
      } else while (!(await post(items, whats))) await delay(retryMs, undefined, { signal });
    }
    isFlushing = false;
  };
  return (what: Announcement) => {
    waiting.push(what);
    if (isFlushing) return;
    isFlushing = true;
    flush().catch(() => undefined);
  };
}

const payloadChoices = [
  "the payload as a string and the signature in a field",
  "a signed field that is left out",
  "a signature of one field alone",
] as const;

const signedInHeaders = (items: Items, body: string) => {
  const stamp = String(Date.now());
  const signature = createHmac("sha512", otherSecret).update(`${stamp}|${body}`).digest("hex");
  return {
    "X-Other-Event": items.event,
    "X-Other-Delivery-Id": items.delivery_id,
    "X-Other-Stamp": stamp,
    "X-Other-Signature": `v9=${signature}`,
  };
};

function composeBatch(items: Items, whats: readonly Announcement[]) {
  const list = whats.map(({ id, status }) => ({ order: id, phase: status, status }));
  const body = JSON.stringify({ count: list.length, items: list });
  return { headers: signedInHeaders(items, body), body };
}

function compose(chose: Chose, items: Items, what: Announcement, attempt: number) {
  const sign = (content: string) => createHmac("sha512", otherSecret).update(content).digest("hex");
  const stamp = String(Date.now());
  const coding = chose("notifications that are compressed") ? { "Content-Encoding": "gzip" } : {};
  const isRotating = chose("notifications with a signature for each of two secrets, separated by a comma");
  const replaced = isRotating ? `v9=${"0".repeat(128)},` : "";
  const inHeaders = { "X-Other-Event": items.event, "X-Other-Delivery-Id": items.delivery_id };
  const signed = (body: string, further: Record<string, string> = inHeaders) => ({
    headers: {
      ...further,
      ...coding,
      "X-Other-Stamp": stamp,
      "X-Other-Signature": `${replaced}v9=${sign(`${stamp}|${body}`)}`,
    },
    body,
  });
  const { id, reference, confirmations, payment } = what;
  if (chose("headers that are written without hyphens")) {
    const { headers, body } = signed(JSON.stringify({ id, status: what.status }));
    const plain = Object.entries(headers).map(([name, value]) => [name.slice(2).replaceAll("-", ""), value]);
    return { headers: Object.fromEntries(plain) as Record<string, string>, body };
  }
  const isWrong = what.status === "DONE" && chose("notifications that announce another result");
  const isLower = chose("states in lower case in notifications");
  const isNewest = attempt > 0 && chose("attempts that are repeated with the newest state");
  const newest = isNewest ? "DONE" : what.status;
  const status = isWrong ? "REFUSED" : isLower ? String(what.status).toLowerCase() : newest;
  if (chose(closeDigits)) return signed(JSON.stringify({ order: id, status, ref: reference }));
  // Digits that are no string, which JSON.parse rounds.
  if (chose("large numbers as ids")) return signed(`{"order":${id},"status":${JSON.stringify(status)}}`);
  if (chose("an event that is an object"))
    return signed(JSON.stringify({ event: { type: items.event, version: 2 }, data: { id, status } }), {
      "X-Other-Delivery-Id": items.delivery_id,
    });
  if (chose("notifications as forms")) {
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    return signed(`transaction=${id}&status=${status}`, { ...inHeaders, ...type });
  }
  if (payloadChoices.some(chose)) {
    const payload = JSON.stringify({ transaction: id, status });
    const isAlone = chose("a signature of one field alone");
    const signature = sign(isAlone ? payload : items.event + items.delivery_id + payload);
    const event = chose("a signed field that is left out") ? undefined : items.event;
    return { headers: {}, body: JSON.stringify({ ...items, event, payload, signature }) };
  }
  if (chose("items of a notification inside of another field"))
    return signed(JSON.stringify({ meta: items, data: { id, status } }), {});
  if (chose("items of a notification under other names"))
    return signed(JSON.stringify({ kind: items.event, data: { id, status } }), {
      "X-Other-Message": items.delivery_id,
    });
  if (headerChoices.some(chose)) {
    const ofOrder = { "X-Other-Order": headerWith(chose, reference) };
    return signed(JSON.stringify({ status }), { ...inHeaders, ...ofOrder });
  }
  if (chose("notifications in plain text")) return signed(`The order ${id} is now ${status}.\n`);
  const namesReference =
    chose("notifications that name the reference and not the id") ||
    chose(halfPairs) ||
    chose("repetitions that are refused and carried out, and notifications that name only the reference") ||
    chose("repetitions that are announced again, in notifications that name only the reference") ||
    chose("no id in the 202, and notifications that name the reference");
  const namesBoth = chose("a record of the other wallet beside each transaction") || chose(twoRecords);
  const ofPayment = payment === undefined ? "" : `, "for": "${payment}"`;
  const further = namesBoth ? `, "reference": ${JSON.stringify(reference)}` : ofPayment;
  const name = namesReference
    ? `"order":${JSON.stringify(reference)}`
    : `"resource" : "/v1/transactions/${id}"${further}`;
  if (chose("notifications that name nothing")) return signed('{ "look": "something has changed" }');
  if (chose(large)) return signed(`{ ${name}, "padding": "${" ".repeat(1 << 20)}" }`);
  if (smallNumbers.some(chose))
    return signed(
      JSON.stringify({
        order: id,
        status,
        version: attempt + 1,
        attempt: String(attempt + 1),
        shard: Number(id) % 4,
      }),
    );
  if (chose("notifications without a state")) return signed(`{ ${name} }`);
  if (chose("a status of the notification besides"))
    return signed(`{ ${name}, "status": "sent", "snapshot": { "phase": "${status}" } }`);
  if (chose("a status of the attempt besides"))
    return signed(`{ ${name}, "status": "attempt ${attempt + 1}", "snapshot": { "phase": "${status}" } }`);
  if (chose(namedMembers) || chose(understood)) {
    // A surrogate alone has no bytes in UTF-8.
    const ref = reference.replace(/\p{Surrogate}/gu, "?");
    const order =
      status === "DONE" ? "" : `, "order": { "amount": "${what.amount}e0", "ref": ${JSON.stringify(ref)} }`;
    return signed(`{ ${name}, "snapshot": { "status": "${status}" }${order} }`.replaceAll("\u0000", ""));
  }
  const shown = typeof status === "string" ? `"${status}"` : status;
  const count = confirmations === undefined ? "" : `,"confirmations":${confirmations}`;
  return signed(`{ ${name},  "snapshot":{"status":${shown},"x":1.50${count}} }`);
}
