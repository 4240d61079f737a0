import { deriveFromRun } from "../../engine/derive-from-run.js";
import { type Kit, urlOf } from "../../engine/kit.js";
import type { Session } from "../../engine/session.js";
import { percentEncode } from "../../http/percent-encode.js";
import { isObject, type Reply, replyOf, sentBody } from "../../http/reply.js";
import type { Exchange, RequestToSend } from "../../http/send.js";
import { findId, isAccepted } from "../scenarios.js";
import { stateOf } from "../transaction-state.js";

/** What the exchanges of a run show about its transactions, by whatever check they were caused. */

type Run = Pick<Kit, "target" | "session">;

export interface Sent {
  readonly id: string;
  readonly members: Record<string, unknown>;
}

const isOwn = (session: Session, { request }: Exchange) =>
  request.headers.some(([name, value]) => name === "Authorization" && value === `Bearer ${session.token}`);

export const keyIn = ({ headers }: RequestToSend) =>
  headers.find(([name]) => name.toLowerCase() === "idempotency-key")?.[1];

const creations = deriveFromRun((exchange, session): Reply[] => {
  const { request } = exchange;
  const isCreate = request.method === "POST" && request.url.pathname.endsWith("/v1/transactions");
  const reply = isCreate && isOwn(session, exchange) ? replyOf(exchange) : undefined;
  return reply === undefined ? [] : [reply];
});

/** The responses to create requests with the run's own token, in the order of their requests. */
const creationsInRun = ({ session }: Run) => creations(session);

/** How long it took until a request was accepted that was sent alone. */
export const creationTimes = (run: Run): number[] =>
  creationsInRun(run)
    .filter((reply) => isAccepted(run.target, reply) && !reply.exchange.request.isConcurrent)
    .map(({ exchange }) => exchange.durationMs);

/**
 * What the run's own client had accepted, with what it sent, without what probes have created. One key with two bodies has no members: which
 * of them counts is open.
 */
export function sentInRun(run: Run): Sent[] {
  const bodies = new Map<string, string | undefined>();
  const ids = new Map<string, string>();
  const parsed = new Map<string, unknown>();
  for (const reply of creationsInRun(run)) {
    const { request } = reply.exchange;
    if (request.isProbe === true) continue;
    const key = keyIn(request) ?? "";
    // A request that is refused can have the key of one that was accepted.
    const id = isAccepted(run.target, reply) ? findId(run.target, reply)?.id : ids.get(key);
    if (id === undefined) continue;
    ids.set(key, id);
    parsed.set(request.body ?? "", sentBody(request));
    bodies.set(id, bodies.has(id) && bodies.get(id) !== request.body ? undefined : request.body);
  }
  return [...bodies].map(([id, body]) => {
    const members = body === undefined ? undefined : parsed.get(body);
    // A body with a repeated member, or one that is no JSON, can be read in more than one way.
    const isPlain = isObject(members) && JSON.stringify(members) === body;
    return { id, members: isPlain ? Object.fromEntries(Object.entries(members).filter(isUnicode)) : {} };
  });
}

/** A surrogate alone is no character: JSON can write it, and programs that accept it show it as a question mark or U+FFFD. */
const isUnicode = ([, value]: [string, unknown]) => !/\p{Surrogate}/u.test(String(value));

/** A request without an answer may have been accepted, so the next one with its key can be a repetition. */
function unansweredKeys({ session }: Run): Set<string> {
  const unanswered = session.exchanges.filter(({ response }) => response === undefined);
  return new Set(unanswered.flatMap(({ request }) => keyIn(request) ?? []));
}

/**
 * Responses that accept the first request with their key. What a repetition is answered with is open, and of requests with one key that
 * are sent together any can be the first.
 */
export function firstAcceptances(run: Run): Reply[] {
  const keys: Set<string | undefined> = unansweredKeys(run);
  return creationsInRun(run).filter((reply) => {
    const { request } = reply.exchange;
    const key = keyIn(request);
    const isFirst = !keys.has(key) && !request.isConcurrent;
    keys.add(key);
    return isFirst && isAccepted(run.target, reply);
  });
}

/** Responses that accept requests with one key. */
export interface AcceptedUnderKey {
  /** Those of which one is the answer to the first request: more than one if they were sent together. */
  readonly first: readonly Reply[];
  readonly repeated: readonly Reply[];
}

/**
 * Every response of the run that accepts a transaction, with whatever token and also of requests that were sent together, by the keys. The
 * first request can be one without a complete answer, or with one of a gateway: then all that are accepted can be repetitions.
 */
export function acceptancesByKey(run: Run): AcceptedUnderKey[] {
  const byKey = new Map<string, Exchange[]>();
  for (const exchange of run.session.exchanges) {
    const { request, index } = exchange;
    const isCreate = request.method === "POST" && request.url.pathname.endsWith("/v1/transactions");
    if (!isCreate) continue;
    const caller = request.headers.find(([name]) => name === "Authorization")?.[1];
    const key = JSON.stringify([caller, keyIn(request) ?? index]);
    byKey.set(key, [...(byKey.get(key) ?? []), exchange]);
  }
  return [...byKey.values()].map((exchanges) => {
    const accepted = exchanges.flatMap((one) => {
      const reply = replyOf(one);
      return reply !== undefined && isAccepted(run.target, reply) ? [reply] : [];
    });
    const [earliest] = accepted;
    if (earliest === undefined) return { first: [], repeated: [] };
    const { index, request } = earliest.exchange;
    const mayBeFirst = (one: Exchange) =>
      one.index <= index || (request.isConcurrent === true && one.request.isConcurrent === true);
    const isUnsure = ({ response }: Exchange) => response === undefined || response.status >= 500;
    const hasUnsure = exchanges.some((one) => mayBeFirst(one) && isUnsure(one));
    const first = hasUnsure ? [] : accepted.filter(({ exchange }) => mayBeFirst(exchange));
    return { first, repeated: accepted.filter((reply) => !first.includes(reply)) };
  });
}

/** What policy rejects can be accepted with its rejection: how that is said is the concern of other checks. */
export function isForPolicy({ target }: Run, { request }: Exchange): boolean {
  const sent = sentBody(request);
  const refused = Object.entries(target.refusedByPolicy ?? {});
  return isObject(sent) && refused.length > 0 && refused.every(([name, value]) => sent[name] === value);
}

/**
 * Responses that accept a transaction with another status than 202. Of requests with one key that are sent together, all but one can be
 * repetitions. A response with the id of an earlier transaction is one too, to the target.
 */
export function acceptedOtherwise(run: Run): Reply[] {
  const shown = new Set<string>();
  const heard = unansweredKeys(run);
  const accepted = creationsInRun(run).filter((reply) => isAccepted(run.target, reply));
  const isRightOnce = new Set(accepted.flatMap((one) => (one.status === 202 ? (keyOf(one) ?? []) : [])));
  return creationsInRun(run).filter((reply) => {
    const key = keyOf(reply) ?? "";
    const id = findId(run.target, reply)?.id ?? "";
    const isRepeated = reply.exchange.request.isProbe === true || heard.has(key) || shown.has(id);
    heard.add(key);
    if (!isAccepted(run.target, reply)) return false;
    shown.add(id);
    const mayRepeat = reply.exchange.request.isConcurrent && isRightOnce.has(key);
    return reply.status !== 202 && key !== "" && !isRepeated && !mayRepeat;
  });
}

const keyOf = ({ exchange }: Reply) => keyIn(exchange.request);

/** Responses to requests that were sent together, if all with one key show one id. If they do not, that is the concern of other checks. */
export function concurrentAcceptances(run: Run): Reply[] {
  const accepted = creationsInRun(run).filter((reply) => isAccepted(run.target, reply));
  const ids = new Map<string | undefined, Set<string | undefined>>();
  for (const reply of accepted) {
    const key = keyIn(reply.exchange.request);
    ids.set(key, (ids.get(key) ?? new Set()).add(findId(run.target, reply)?.id));
  }
  return accepted.filter(
    ({ exchange: { request } }) => request.isConcurrent && ids.get(keyIn(request))?.size === 1,
  );
}

export const pathOf = (id: string) => `/v1/transactions/${percentEncode(id)}`;

/** The answers to GET, each with its path. */
const reads = deriveFromRun((exchange, session): { pathname: string; reply: Reply }[] => {
  const { method, url } = exchange.request;
  const reply = method === "GET" && isOwn(session, exchange) ? replyOf(exchange) : undefined;
  return reply === undefined ? [] : [{ pathname: url.pathname, reply }];
});

type Reads = ReturnType<typeof reads>;
const indexes = new WeakMap<Reads, { count: number; readonly byPath: Map<string, Reply[]> }>();

/** They are asked for as often as there are transactions and notifications, so each is put at its path once. */
function readsByPath(all: Reads): ReadonlyMap<string, readonly Reply[]> {
  const index = indexes.get(all) ?? { count: 0, byPath: new Map<string, Reply[]>() };
  indexes.set(all, index);
  for (const { pathname, reply } of all.slice(index.count)) {
    const own = index.byPath.get(pathname) ?? [];
    own.push(reply);
    index.byPath.set(pathname, own);
  }
  index.count = all.length;
  return index.byPath;
}

/** The answers to GET of a transaction so far, each after the one before it had arrived. */
export function readsOf(run: Run, id: string): Reply[] {
  const wanted = urlOf(run.target.baseUrl, pathOf(id)).pathname;
  const own: Reply[] = [];
  let arrivedAt = 0;
  for (const reply of readsByPath(reads(run.session)).get(wanted) ?? []) {
    const { startedAt, durationMs } = reply.exchange;
    // Requests that overlap can be answered in any order.
    if (startedAt.getTime() < arrivedAt) continue;
    arrivedAt = startedAt.getTime() + durationMs;
    own.push(reply);
  }
  return own;
}

export const finalIn = ({ target }: Run, reply: Reply) => {
  const state = reply.status === 200 ? stateOf(target, reply) : undefined;
  return state !== undefined && target.finalStates.includes(state) ? state : undefined;
};

/** How many transactions were accepted with an id, and how many of these GET has shown: a reader sees how large the sample is. */
export function countRead(session: Session): { accepted: number; read: number } {
  const run = { session, target: session.target };
  const all = sentInRun(run);
  return {
    accepted: all.length,
    read: all.filter(({ id }) => readsOf(run, id).some(({ status }) => status === 200)).length,
  };
}
