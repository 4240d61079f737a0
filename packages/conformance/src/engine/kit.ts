import { randomBytes, randomUUID } from "node:crypto";
import type { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { describeReply, type Reply } from "../http/reply.js";
import type { Exchange, RequestToSend } from "../http/send.js";
import type { Target } from "../target/target.js";
import type { Delivery } from "../webhooks/receiver.js";
import { BoundReached, Undecided } from "./check.js";
import { parseDecimal } from "./decimal.js";
import {
  type BegunExchange,
  beginExchange,
  emptyRecord,
  type Recorded,
  refuseIfStopped,
  sendOnce,
} from "./exchange.js";
import { createPolling, type Polling } from "./polling.js";
import { isRefusedByQuota, retryAfterMs } from "./quota.js";
import { nameOf } from "./run-names.js";
import { reserveAmount, type Session, timePassed } from "./session.js";

export interface SendOptions {
  /** Undefined sends the run's own token, null none. */
  readonly authorization?: string | null | undefined;
  /** Of the header Accept; JSON if it is not given. */
  readonly accept?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | undefined;
  /** Sends each character of the body as one byte, so that it need not be UTF-8. */
  readonly bodyEncoding?: "latin1";
  readonly agent?: Agent | undefined;
  /** Sent at the same time as its neighbours, which a report has to repeat together. */
  readonly isConcurrent?: boolean;
  /** Closes the connection so long after the request was sent, if it has no answer yet. */
  readonly hangUpMs?: number;
  /** Tries what the contract leaves open, so no other check judges the transaction that may come of it. */
  readonly isProbe?: boolean;
  /** Shows a refusal by a quota to the check instead of waiting and sending the request again. */
  readonly showsRefusedByQuota?: boolean;
  /** The largest body that is read, if it is not the usual one. */
  readonly bodyBytesMax?: number;
  /** Keeps only the beginning of the body, for what is asked for many times. */
  readonly keepsBeginning?: boolean;
}

export interface CreateOptions extends SendOptions {
  /** Undefined makes a new key, null sends none. */
  readonly key?: string | null | undefined;
  readonly keyHeader?: string;
  /** Members that replace those of a valid request; undefined removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly contentType?: string;
  readonly path?: string;
}

/** A request to create a transaction, with its response. */
export interface Attempt {
  readonly key: string | undefined;
  readonly reference: string;
  readonly body: string;
  readonly reply: Reply;
}

/** What a check works with. Each check and each fixture has its own, so that its exchanges can be listed. */
export interface Kit extends Polling {
  readonly target: Target;
  readonly session: Session;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Reply>;
  readonly create: (options?: CreateOptions) => Promise<Attempt>;
  /** For what `send` cannot do, such as a WebSocket. */
  readonly begin: (request: RequestToSend) => BegunExchange;
  /** Runs once in a run; every check that uses it sees the same value, and lists the same exchanges. */
  readonly fixture: <T>(name: string, make: (kit: Kit) => Promise<T>) => Promise<T>;
  /** Shows these notifications in the report of the check. */
  readonly attach: (deliveries: readonly Delivery[]) => void;
  /** Shows these exchanges in the report of the check, although others have caused them. */
  readonly cite: (exchanges: readonly Exchange[]) => void;
  readonly newName: () => string;
  /** A key that no other request has: a UUID, or as many characters as the target allows. */
  readonly newKey: (length?: number) => string;
  readonly warn: (text: string) => void;
  /** Waits in full. The commands of the report wait as long before the next request, or `shownMs` if the check has waited before. */
  readonly sleep: (durationMs: number, shownMs?: number) => Promise<void>;
}

const bodyBytesMax = 1 << 20;
const beginningBytes = 4 << 10;
const quotaWaitsMax = 5;
const notificationsMax = 50;

export function createKit(session: Session, recorded: Recorded = emptyRecord()): Kit {
  const { target } = session;
  const { warnings } = recorded;
  const newName = () => {
    session.counter += 1;
    return nameOf(session, session.counter);
  };
  const wait = async (durationMs: number) => {
    const remainingMs = session.deadline - performance.now();
    if (durationMs > remainingMs) throw new BoundReached(timePassed(session));
    await delay(durationMs, undefined, { signal: session.signal }).catch(() => refuseIfStopped(session));
  };
  const sendTo = async (method: string, path: string, options: SendOptions = {}) => {
    const authorization =
      options.authorization === undefined ? `Bearer ${session.token}` : options.authorization;
    const request: RequestToSend = {
      method,
      url: urlOf(target.baseUrl, path),
      rawPath: isDotted(path) ? target.baseUrl.pathname.replace(/\/$/, "") + path : undefined,
      headers: [
        ["Accept", options.accept ?? "application/json"],
        ...(authorization === null ? [] : [["Authorization", authorization] as const]),
        ...(options.headers ?? []),
      ],
      body: options.body,
      bodyEncoding: options.bodyEncoding,
      agent: options.agent,
      isConcurrent: options.isConcurrent === true,
      hangUpMs: options.hangUpMs,
      isProbe: options.isProbe === true,
    };
    for (let waits = 0; ; waits += 1) {
      const bytesMax = options.bodyBytesMax ?? bodyBytesMax;
      const keptMax = options.keepsBeginning === true ? beginningBytes : bytesMax;
      const reply = await sendOnce(session, recorded, request, { bytesMax, keptMax });
      if (options.showsRefusedByQuota === true || !isRefusedByQuota(target, reply)) return reply;
      if (waits === quotaWaitsMax)
        throw new Undecided(
          `The target refuses ${method} ${path} because of its quota (${describeReply(reply)}), also after ${quotaWaitsMax} waits.`,
        );
      await wait(retryAfterMs(reply));
    }
  };
  const kit: Kit = {
    target,
    session,
    send: sendTo,
    create: (options = {}) => create(kit, options),
    begin: (request) => beginExchange(session, recorded, request),
    fixture: async (name, make) => {
      let made = session.fixtures.get(name);
      if (made === undefined) {
        const own = { ...emptyRecord(), warnings };
        made = { recorded: own, value: make(createKit(session, own)) };
        // The checks that use it report its failure.
        made.value.catch(() => undefined);
        session.fixtures.set(name, made);
      }
      try {
        return (await made.value) as Awaited<ReturnType<typeof make>>;
      } finally {
        kit.cite(made.recorded.exchanges);
        kit.attach(made.recorded.notifications);
      }
    },
    attach: (deliveries) => {
      const { notifications } = recorded;
      notifications.push(...deliveries.filter((one) => !notifications.includes(one)));
      notifications.splice(notificationsMax);
    },
    cite: (exchanges) => {
      recorded.exchanges.push(...exchanges.filter((one) => !recorded.exchanges.includes(one)));
    },
    newName,
    newKey: (length = session.keyLength) =>
      length === undefined ? randomUUID() : randomBytes(length).toString("hex").slice(0, length),
    warn: (text) => void warnings.push(text),
    sleep: async (durationMs, shownMs = durationMs) => {
      await wait(durationMs);
      recorded.pausedMs += shownMs;
    },
    ...createPolling(session, wait),
  };
  return kit;
}

/** The members of a valid request. */
export function membersOf({ target }: Kit, reference: string): Record<string, unknown> {
  const { asset, amount, fields } = target.transaction;
  return { reference, asset, amount, ...fields };
}

async function create(kit: Kit, options: CreateOptions): Promise<Attempt> {
  const reference = kit.newName();
  const key = options.key === undefined ? kit.newKey() : (options.key ?? undefined);
  const { asset } = kit.target.transaction;
  const members = { ...membersOf(kit, reference), ...options.fields };
  const body = options.body ?? JSON.stringify(members);
  // A target that accepts an asset or an amount of another form may take it for the usual one.
  const { asset: given, amount } = members;
  const isAmount = typeof amount === "number" || parseDecimal(String(amount)) !== undefined;
  const reserved = isAmount ? amount : kit.target.transaction.amount;
  reserveAmount(kit.session, typeof given === "string" ? given : asset, reserved);
  const reply = await kit.send("POST", options.path ?? "/v1/transactions", {
    ...options,
    headers: [
      ["Content-Type", options.contentType ?? "application/json"],
      ...(key === undefined ? [] : [[options.keyHeader ?? "Idempotency-Key", key] as const]),
      ...(options.headers ?? []),
    ],
    body,
  });
  return { key, reference: String(members["reference"]), body, reply };
}

/** A URL never has dots alone between slashes, and a request can have them. */
const isDotted = (path: string) => /\/\.{1,2}(\/|$)/.test(path);

/** Paths are relative to the base address, which can have a path of its own. */
export function urlOf(baseUrl: URL, path: string): URL {
  return new URL(baseUrl.href.replace(/\/$/, "") + path);
}
