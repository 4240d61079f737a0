import { expect, fail, NotOffered, Undecided } from "../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../engine/kit.js";
import { describeReply, isRefusal, type Reply, valueAt } from "../http/reply.js";
import type { Place, Target } from "../target/target.js";

/** What several checks do or look at. */

export interface Created extends Attempt {
  readonly id: string;
}

/** Creates a transaction and finds its id. */
export async function createTransaction(kit: Kit, options: CreateOptions = {}): Promise<Created> {
  const attempt = await kit.create(options);
  expectAccepted(attempt.reply);
  return { ...attempt, id: requireId(kit.target, attempt.reply) };
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

export async function awaitFinal(kit: Kit, id: string): Promise<{ state: string; shown: Reply }> {
  const { timing } = kit.target;
  let last = "no state";
  const found = await kit.poll(timing.resultMs, async () => {
    const shown = await showTransaction(kit, id);
    const state = stateOf(kit.target, shown);
    last = state ?? last;
    return state !== undefined && isFinal(kit.target, state) ? { state, shown } : undefined;
  });
  const wanted = `one of the final states (${kit.target.finalStates.join(", ")})`;
  return found ?? failOverdue(kit, "resultMs", wanted, `the state ${last}`);
}

const timingMembers = { resultMs: "result_ms", webhookMs: "webhook_ms", retryMs: "retry_ms" } as const;

/**
 * Something did not come in time. The contract does not say how long anything may take, so this is a failure only if the target file
 * says it.
 */
export function failOverdue(kit: Kit, name: keyof typeof timingMembers, what: string, seen: string): never {
  const { timing, statedTiming } = kit.target;
  const member = `timing.${timingMembers[name]}`;
  const waitedMs = timing[name];
  if (statedTiming.has(name)) fail(`${what} within ${waitedMs} ms (${member} of the target file)`, seen);
  throw new Undecided(
    `Expected ${what}; seen ${seen} after ${waitedMs} ms. The contract does not say how long this may take: state in ${member} of the target file how long it takes at most, and it passes or fails.`,
  );
}

/** GET of a transaction that was accepted. It is stored asynchronously, so it need not be found at once. */
export async function showTransaction(kit: Kit, id: string): Promise<Reply> {
  let last: Reply | undefined;
  const found = await kit.poll(kit.target.timing.resultMs, async () => {
    last = await kit.send("GET", `/v1/transactions/${encodeURIComponent(id)}`);
    return last.status === 200 ? last : undefined;
  });
  const wanted = `status 200 for the accepted transaction ${id}`;
  return found ?? failOverdue(kit, "resultMs", wanted, last === undefined ? "nothing" : describeReply(last));
}

export function expectAccepted(reply: Reply): void {
  expect(reply.status === 202, "status 202", describeReply(reply));
}

export function expectRefused(reply: Reply, what: string): void {
  expect(isRefusal(reply), `a refusal of ${what}`, describeReply(reply));
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
    const text = typeof raw === "string" || typeof raw === "number" ? String(raw) : "";
    const id = place.startsWith("header.") ? decodeSegment(text) : text;
    if (id !== "") return { id, raw, place };
  }
  return undefined;
}

export function rawAt(reply: Reply, place: Place): unknown {
  const name = place.slice(place.indexOf(".") + 1);
  return place.startsWith("body.") ? valueAt(reply.json, name) : reply.header(name);
}

function decodeSegment(location: string): string {
  const segment = location.split(/[?#]/)[0]?.split("/").filter(Boolean).at(-1) ?? "";
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
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

const statePaths = [
  "state",
  "status",
  "data.state",
  "data.status",
  "transaction.state",
  "transaction.status",
];

const textStateMax = 64;

/** The state in a response: a member of its JSON, or all of a short text. */
export function stateOf(target: Target, { json, text }: Pick<Reply, "json" | "text">): string | undefined {
  if (target.shown.state !== undefined) return textAt(json, [target.shown.state]);
  if (typeof json === "object" && json !== null) return textAt(json, statePaths);
  const whole = (typeof json === "string" ? json : text).trim();
  return whole !== "" && whole.length <= textStateMax && !/[\n<]/.test(whole) ? whole : undefined;
}

/** The names under which another message can have the state. */
export function stateNames({ shown }: Target): string[] {
  const own = shown.state?.split(".").at(-1);
  return own === undefined ? ["state", "status"] : [own, "state", "status"];
}

/** The first value that is there, of whatever type. */
function firstAt(json: unknown, paths: readonly string[]): unknown {
  return paths.map((path) => valueAt(json, path)).find((value) => value !== undefined);
}

function textAt(json: unknown, paths: readonly string[]): string | undefined {
  const value = firstAt(json, paths);
  return (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : undefined;
}

const usualPaths = (name: string) => [name, `data.${name}`, `transaction.${name}`];

/** A member of the transaction as GET shows it; not offered if it shows none, because its fields are open. */
export function shownMember(target: Target, json: unknown, name: "id" | "amount" | "reference"): unknown {
  const path = target.shown[name];
  const value = firstAt(json, path === undefined ? usualPaths(name) : [path]);
  if (value !== undefined) return value;
  if (path !== undefined)
    fail(
      `the ${name} at ${path}, where shown.${name} of the target file says`,
      `none in ${JSON.stringify(json)?.slice(0, 200) ?? "a body that is not JSON"}`,
    );
  throw new NotOffered(`GET /v1/transactions/{id} shows no ${name}, and need not.`);
}

export function isFinal(target: Target, state: string): boolean {
  if (target.finalStates.length === 0)
    throw new NotOffered("The target file does not say which states are final (final_states).");
  return target.finalStates.includes(state);
}

/** An id of the same form that no transaction has. */
export function alterId(id: string): string {
  const at = id.search(/[0-9a-z][^0-9a-z]*$/i);
  if (at < 0) return `${id}0`;
  const middle = Math.floor(at * 0.8);
  const flip = (character: string) => (character === "7" ? "3" : "7");
  return [...id]
    .map((character, index) =>
      index === at || (index === middle && /\d/.test(character)) ? flip(character) : character,
    )
    .join("");
}
