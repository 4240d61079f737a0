import { CheckFailed, expect, fail, NoResponse, NotOffered, Undecided } from "../engine/check.js";
import { type Attempt, type CreateOptions, type Kit, urlOf } from "../engine/kit.js";
import { isServerFailure } from "../http/find-gateway.js";
import { percentEncode } from "../http/percent-encode.js";
import {
  describeReply,
  findUnreadableJson,
  isRefusal,
  mediaTypeOf,
  type Reply,
  valueAt,
} from "../http/reply.js";
import type { Place, Target } from "../target/target.js";
import { isEmptyBody, isFinal, isStateCertain, stateOf, statePathOf } from "./transaction-state.js";
import { refuseIfUnread } from "./webhooks/unread-notifications.js";

/** What several checks do or look at. */

export interface Created extends Attempt {
  readonly id: string;
}

/** Creates a transaction and finds its id. */
export async function createTransaction(kit: Kit, options: CreateOptions = {}): Promise<Created> {
  const attempt = await sendValid(kit, options);
  expectAccepted(kit, attempt.reply);
  return { ...attempt, id: requireId(kit.target, attempt.reply) };
}

/** A response that is cut off, and a valid request without one, say nothing about what the check tries. */
export function sendValid(kit: Kit, options: CreateOptions = {}): Promise<Attempt> {
  const isUsual = options.key === undefined && options.body === undefined && options.fields === undefined;
  return kit.create(options).catch((error: unknown) => {
    if (!(error instanceof NoResponse) || !(isUsual || error.closedBy === "cut off")) throw error;
    throw new NoResponse(error.expected, error.seen, error.closedBy, eachCheck);
  });
}

/** One transaction that checks can share, because they only read it. */
export const sharedTransaction = (kit: Kit): Promise<Created> =>
  kit.fixture("transaction", createTransaction);

/** A transaction that has reached its final state. */
export const settledTransaction = (kit: Kit): Promise<Created & { state: string; shown: Reply }> =>
  kit.fixture("settled transaction", async (own) => {
    const created = await sharedTransaction(own);
    return { ...created, ...(await awaitFinal(own, created.id)) };
  });

export async function awaitFinal(
  kit: Kit,
  id: string,
  belongsTo = resultCheck,
  /** Is given each state before the final one. */
  onState: (state: string) => Promise<void> = async () => undefined,
): Promise<{ state: string; shown: Reply }> {
  const { timing } = kit.target;
  let last: { state: string; shown: Reply } | undefined;
  const found = await kit.poll(timing.resultMs, async () => {
    const shown = await showTransaction(kit, id);
    const state = stateOf(kit.target, shown);
    if (state === undefined) return undefined;
    last = { state, shown };
    if (isFinal(kit.target, state)) return last;
    await onState(state);
    return undefined;
  });
  if (found !== undefined) return found;
  const wanted = `one of the final states (${kit.target.finalStates.join(", ")})`;
  const { json } = last?.shown ?? {};
  if (last !== undefined && !isStateCertain(kit.target, json))
    throw new Undecided(
      `Expected ${wanted}; seen ${last.state} at ${statePathOf(kit.target, json)} after ${timing.resultMs} ms. That may be something else than the state: name the place of the state in shown.state of the target file.`,
    );
  return failOverdue(kit, "resultMs", wanted, `the state ${last?.state ?? "none"} of ${id}`, belongsTo);
}

const timingMembers = { resultMs: "result_ms", webhookMs: "webhook_ms", retryMs: "retry_ms" } as const;

/**
 * Something did not come in time. The contract does not say how long anything may take, so this is a failure only if the target file
 * says it.
 */
export function failOverdue(
  kit: Kit,
  name: keyof typeof timingMembers,
  what: string,
  seen: string,
  belongsTo?: string,
): never {
  const { timing, statedTiming } = kit.target;
  const member = `timing.${timingMembers[name]}`;
  const waitedMs = timing[name];
  if (name !== "resultMs") refuseIfUnread(kit, what, seen, belongsTo);
  if (statedTiming.has(name))
    throw new CheckFailed(`${what} within ${waitedMs} ms (${member} of the target file)`, seen, belongsTo);
  throw new Undecided(
    `Expected ${what}; after ${waitedMs} ms seen ${seen}. The contract does not say how long this may take: state in ${member} of the target file how long it takes at most, and it passes or fails.`,
    belongsTo,
  );
}

/** The checks that any transaction of the run can fail, because they are about all that were accepted. */
export const foundCheck = "tx.get.found";
export const resultCheck = "tx.get.result";
export const eachCheck = "tx.create.each";
export const stateCheck = "tx.get.state";

/** GET of a transaction that was accepted. It is stored asynchronously, so it need not be found at once. */
export async function showTransaction(kit: Kit, id: string): Promise<Reply> {
  const path = `/v1/transactions/${percentEncode(id)}`;
  const wanted = `status 200 for the accepted transaction ${id}`;
  let last: Reply | undefined;
  const found = await kit.poll(kit.target.timing.resultMs, async () => {
    last = await kit.send("GET", path);
    if (isSuccess(last)) throw new CheckFailed(wanted, describeReply(last), foundCheck);
    return last.status === 200 ? last : undefined;
  });
  if (found !== undefined) {
    expectReadable(found);
    return found;
  }
  const { pathname } = urlOf(kit.target.baseUrl, path);
  const wasShown = kit.session.exchanges.some(
    ({ request, response }) =>
      request.method === "GET" && request.url.pathname === pathname && response?.status === 200,
  );
  const lost = `it was accepted${wasShown ? ", was shown with 200 before," : ""} and is lost`;
  const seen = last === undefined ? "nothing" : `${describeReply(last)}: ${lost}`;
  const isFailure = last !== undefined && isServerFailure(last.exchange);
  // What was shown once exists, and a server that fails does not say that it is not there yet, so it is no question of time.
  if (wasShown || isFailure)
    throw new CheckFailed(`${wanted}, also within ${kit.target.timing.resultMs} ms`, seen, foundCheck);
  return failOverdue(kit, "resultMs", wanted, seen, foundCheck);
}

/** Without a body that can be read there is no state, whatever a check looks for in it. */
export function expectReadable(reply: Reply): void {
  const isCut = /[/+]json$/.test(mediaTypeOf(reply)) && reply.json === undefined;
  if (isCut || isEmptyBody(reply))
    throw new CheckFailed(
      isCut ? "a state in the body, which is declared as JSON" : "a state in the body",
      findUnreadableJson(reply) ?? describeReply(reply),
      stateCheck,
      reply,
    );
}

/** GET has one status of success, so another one is no question of time. */
const isSuccess = (reply: Reply) => reply.status > 200 && reply.status < 300 && !isRefusal(reply);

/**
 * Whether a create request was accepted. Another status of success than 202 is the failure of one check alone, so the others go on if the
 * response has an id, which shows that something was created.
 */
export function isAccepted(target: Target, reply: Reply): boolean {
  if (isRefusal(reply) || reply.status < 200 || reply.status > 299) return false;
  return reply.status === 202 || findId(target, reply) !== undefined;
}

/** A status of success other than 202 is left to the check that looks at all of them. */
export function expectAccepted(kit: Kit, reply: Reply, what?: string): void {
  // A request that differs from others in nothing is refused in whatever check it happens to be.
  if (!isAccepted(kit.target, reply))
    throw new CheckFailed(
      `status 202 for ${what ?? "each valid request"}`,
      describeReply(reply),
      // A server that fails has not understood the request in another way.
      what === undefined || reply.status >= 500 ? eachCheck : undefined,
      reply,
    );
}

export function expectRefused(reply: Reply, what: string): void {
  const isRedirect = reply.status >= 300 && reply.status < 400;
  const form = isRedirect ? ", as an error response: a redirect is none" : "";
  expect(isRefusal(reply), `a refusal of ${what}${form}`, describeReply(reply));
}

const idPlaces: readonly Place[] = [
  "body.id",
  "body.transaction_id",
  "body.transaction.id",
  "body.data.id",
  "header.location",
];

/** The id in a 202, if the target returns one: the contract does not say whether it does. */
export function findId(target: Target, reply: Reply): { id: string; raw: unknown; place: Place } | undefined {
  const places = target.acceptedId === undefined ? idPlaces : [target.acceptedId];
  for (const place of places) {
    const raw = rawAt(reply, place);
    const text = typeof raw === "number" ? digitsOf(raw, reply.text) : typeof raw === "string" ? raw : "";
    const id = isAddress(text, place) ? decodeSegment(text) : isHeader(place) ? decodeHeader(text) : text;
    if (id !== "") return { id, raw, place };
  }
  return undefined;
}

const isHeader = (place: Place) => place.startsWith("header.");

/** An id can have slashes of its own, so only what is surely an address counts as one: `Location` always has one. */
function isAddress(text: string, place: Place): boolean {
  if (/^https?:\/\/|(^|\/)v1\/transactions\/[^/]/.test(text)) return true;
  return isHeader(place) && (/^header\.(content-)?location$/i.test(place) || text.startsWith("/"));
}

/** A header cannot have every character, so a value that is the percent-encoding of something stands for that. */
function decodeHeader(text: string): string {
  const decoded = decodePercent(text);
  return percentEncode(decoded) === text ? decoded : text;
}

/** A number as it was written: one above 2^53 is rounded when it is parsed. */
function digitsOf(value: number, text: string): string {
  if (Number.isSafeInteger(value)) return String(value);
  return text.match(/\d{16,}/g)?.find((digits) => Number(digits) === value) ?? String(value);
}

/** The id in the response to a repeated request, which can also be a redirect to the transaction. */
export function findRepeatedId(target: Target, reply: Reply): string | undefined {
  const found = findId(target, reply)?.id;
  if (found !== undefined || reply.status < 300 || reply.status > 399) return found;
  const location = reply.header("location") ?? "";
  return /\/v1\/transactions\/[^/]+$/.test(location.split(/[?#]/)[0] ?? "")
    ? decodeSegment(location)
    : undefined;
}

export function rawAt(reply: Reply, place: Place): unknown {
  const name = place.slice(place.indexOf(".") + 1);
  return place.startsWith("body.") ? valueAt(reply.json, name) : reply.header(name);
}

const decodeSegment = (location: string) =>
  decodePercent(location.split(/[?#]/)[0]?.split("/").filter(Boolean).at(-1) ?? "");

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function requireId(target: Target, reply: Reply): string {
  const found = findId(target, reply);
  if (found !== undefined) return found.id;
  if (target.acceptedId !== undefined)
    fail(`an id at ${target.acceptedId}, where accepted_id of the target file says`, describeReply(reply));
  throw new NotOffered(
    "The 202 shows no id, and need not. If it has one elsewhere, name the place in accepted_id of the target file.",
  );
}
