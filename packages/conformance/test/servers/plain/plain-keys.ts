import { setTimeout as delay } from "node:timers/promises";
import { tenantOf } from "./plain-input.js";
import type { Has, PlainRequest } from "./plain-server.js";

/** Long enough for a check that repeats a request at once, on a busy machine. */
export const forgottenMs = 700;
/** The minute of the checks that wait long, in this server's time. */
export const minuteMs = 2000;

/** How long the work takes for a key that others ask for meanwhile, and for how long they wait for it, if that is the fault. */
const arrivalMs = 20;
const workMs = 900;
const lockMs = 300;

const keysRemembered = 3;
const manyRemembered = 30;
const keysKept = 7;

/** What was accepted under a key. */
export interface Remembered<T> {
  readonly transaction: T;
  readonly body: string;
  readonly at: number;
  readonly socket: object;
  times: number;
}

/** The keys of the Plain server. */
export function createPlainKeys<T extends { state: string }>(has: Has) {
  const keys = new Map<string, Remembered<T>>();

  const locks = new Map<string, { readonly at: number; waiting: (() => void)[] }>();
  /** Whether the request may do the work, which it has then waited for; if it may not, another one has done it meanwhile. */
  const takeLock = async (key: string): Promise<boolean> => {
    const held = locks.get(key);
    if (held !== undefined && performance.now() - held.at < lockMs) {
      await new Promise<void>((resolve) => held.waiting.push(resolve));
      return false;
    }
    const own = { at: performance.now(), waiting: [] as (() => void)[] };
    locks.set(key, own);
    await delay(arrivalMs);
    if (own.waiting.length > 0) await delay(workMs);
    // After the key was remembered.
    setImmediate(() => {
      if (locks.get(key) === own) locks.delete(key);
      for (const resolve of own.waiting) resolve();
    });
    return true;
  };

  const keyOf = (given: string, request: PlainRequest) => {
    const tail = has("keys-without-first-character") ? given.slice(1) : given;
    const own = has("keys-without-letters") ? tail.replace(/\D/g, "") : tail;
    const key = has("other-tenants-key-found") ? own : `${tenantOf(request.headers.authorization)} ${own}`;
    const cased = has("keys-case-insensitive") ? key.toLowerCase() : key;
    if (has("keys-decoded") && /%[\da-f]{2}/i.test(cased)) return decodeURIComponent(cased);
    if (has("keys-without-padding")) return cased.replace(/=+$/, "");
    if (has("keys-read-as-base-64")) return cased.replaceAll("-", "+").replaceAll("_", "/");
    const number = has("keys-compared-as-numbers") ? Number(own) : Number.NaN;
    if (!Number.isNaN(number)) return String(number);
    if (has("keys-cut-at-a-colon")) return cased.split(":")[0] ?? "";
    if (has("keys-cut-at-a-comma")) return cased.split(",")[0] ?? "";
    const bare = has("keys-without-punctuation") ? cased.replaceAll("-", "") : cased;
    const max = [
      has("keys-truncated") && 40,
      has("keys-cut-at-64") && 70,
      has("keys-cut-at-128") && 134,
    ].find((one) => one !== false);
    return bare.slice(0, max);
  };

  const findKey = (key: string, request: PlainRequest): Remembered<T> | undefined => {
    const known = keys.get(keyOf(key, request));
    const { socket } = request;
    if (known === undefined) return undefined;
    const isLower = !request.rawHeaders.includes("Idempotency-Key");
    const isForgotten =
      (has("lower-case-key-forgotten") && isLower) ||
      (has("symbol-key-forgotten") && /[:/]/.test(key)) ||
      (has("thirty-keys-remembered") && [...keys.values()].indexOf(known) < keys.size - manyRemembered) ||
      (has("key-beyond-ascii-forgotten") && /[^ -~]/.test(request.body)) ||
      (has("second-tenants-keys-forgotten") && tenantOf(request.headers.authorization) === "second") ||
      (has("digits-forgotten") && /^\d{25,}$/.test(key)) ||
      (has("long-key-forgotten") && key.length > 60) ||
      (has("key-of-long-body-forgotten") && request.body.length > 1500) ||
      (has("few-keys-remembered") && [...keys.values()].indexOf(known) < keys.size - keysRemembered) ||
      (has("key-per-connection") && known.socket !== socket) ||
      (has("key-forgotten-after-a-minute") && performance.now() - known.at > minuteMs) ||
      (has("key-forgotten-later") && performance.now() - known.at > forgottenMs) ||
      (has("key-forgotten-when-failed") && known.transaction.state === "failed") ||
      (has("key-forgotten-in-between") &&
        known.transaction.state === "processing" &&
        known.body === request.body) ||
      (has("key-forgotten-when-final") && known.transaction.state === "completed");
    return isForgotten ? undefined : known;
  };

  /** Keys since a check of theirs began, which is noticed by the name of its header. */
  let lowerNames = 0;
  let newKeys = 0;
  const countFrom = (names: number, request: PlainRequest) => {
    lowerNames += request.rawHeaders.includes("idempotency-key") ? 1 : 0;
    newKeys += lowerNames >= names ? 1 : 0;
    return newKeys;
  };
  /** The second new key after the check of the header's name. */
  const isMistaken = (request: PlainRequest) => countFrom(1, request) === 3;
  /** One of seven new keys in the check that repeats several. */
  const isForgotten = (request: PlainRequest) =>
    has("some-keys-forgotten") && countFrom(2, request) === keysKept;
  return { keys, keyOf, findKey, takeLock, isMistaken, isForgotten };
}
