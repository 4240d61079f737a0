import { NotOffered } from "../engine/check.js";
import { type Reply, valueAt } from "../http/reply.js";
import type { Target } from "../target/target.js";
import { findMember, textOf } from "../webhooks/delivery-items.js";

/** Where a response has the state of a transaction. Its name and its place are open, so without the target file it is a guess. */

/** A service can put its own status around a transaction, so that is the last one. */
const usualPaths = [
  "state",
  "transaction.state",
  "data.state",
  "transaction.status",
  "data.status",
  "status",
];

const textStateMax = 64;

/** The path of the state in a body; undefined if none is found. */
export function statePathOf({ shown }: Target, json: unknown): string | undefined {
  if (shown.state !== undefined) return shown.state;
  return usualPaths.find((path) => textOf(valueAt(json, path)) !== undefined);
}

/** The state in a response: a member of its JSON, or all of a short text. */
export function stateOf(target: Target, { json, text }: Pick<Reply, "json" | "text">): string | undefined {
  const path = statePathOf(target, json);
  if (path !== undefined) return textOf(valueAt(json, path));
  if (typeof json === "object" && json !== null) return undefined;
  const whole = (typeof json === "string" ? json : text).trim();
  return whole !== "" && whole.length <= textStateMax && !/[\n<]/.test(whole) ? whole : undefined;
}

/** Whether a body has nothing in it that could be a state. */
export function isEmptyBody({ json, text }: Pick<Reply, "json" | "text">): boolean {
  return text.trim() === "" || (typeof json === "object" && json !== null && Object.keys(json).length === 0);
}

/** Whether a member is the state, and not something else that is called so: a status can be that of an envelope. */
export function isStateCertain(target: Target, json: unknown): boolean {
  return target.shown.state !== undefined || lastName(statePathOf(target, json) ?? "state") === "state";
}

/** The names under which another message can have the state. */
export function stateNames({ shown }: Target): string[] {
  return [...new Set([lastName(shown.state ?? "state"), "state", "status"])];
}

const lastName = (path: string) => path.split(".").at(-1) ?? path;

export function isFinal(target: Target, state: string): boolean {
  requireFinalStates(target);
  return target.finalStates.includes(state);
}

export function requireFinalStates({ finalStates }: Target): void {
  if (finalStates.length === 0)
    throw new NotOffered("The target file does not say which states are final (final_states).");
}

export interface FoundState {
  readonly path: string;
  readonly state: string;
  /** Whether its member is called as states are. If it is not, it may be something else. */
  readonly isNamed: boolean;
  /** Whether its place is a header. */
  readonly isHeader?: true;
}

interface WantedStates {
  readonly names: readonly string[];
  readonly finalStates: readonly string[];
}

const outcomeNames = ["state", "status", "outcome", "result", "phase", "stage"];
const depthMax = 8;

/** Words for the end of something, in the languages that programs use for it. */
const resultWords =
  /^(success|successful|succeeded|completed?|done|finished|settled|executed|paid|failed|failure|rejected|declined|final|finali[sz]ed)$/i;

/** Members of a 202 that sound like the outcome of a transaction, although the target file does not name it as a final state. */
export function resultWordsIn(json: unknown, target: Target): FoundState[] {
  const isWord = (text: string) => resultWords.test(text) && !target.finalStates.includes(text);
  return namedIn(json, isWord, [...stateNames(target), ...outcomeNames]).filter(({ isNamed }) => isNamed);
}

/** Every final state in a 202, however deep, because it can have another shape than the response of GET. Lists of words are no states. */
export function finalStatesIn(json: unknown, { names, finalStates }: WantedStates): FoundState[] {
  return namedIn(json, (text) => finalStates.includes(text), [...names, ...outcomeNames]);
}

function namedIn(json: unknown, isWanted: (text: string) => boolean, names: readonly string[]): FoundState[] {
  const isNamed = (name: string) => names.includes(name.toLowerCase());
  const found: FoundState[] = [];
  const look = (value: unknown, prefix: string, depth: number) => {
    if (typeof value !== "object" || value === null || depth === 0) return;
    for (const [name, inner] of Object.entries(value)) {
      const path = `${prefix}${name}`;
      const state = Array.isArray(value) ? undefined : textOf(inner);
      if (state !== undefined && isWanted(state)) found.push({ path, state, isNamed: isNamed(name) });
      look(inner, `${path}.`, depth - 1);
    }
  };
  look(json, "", depthMax);
  return found;
}

/** Whether a body has a member that is called as states are. */
export function hasState(json: unknown, names: readonly string[]): boolean {
  return findMember(json, [...names, ...outcomeNames]) !== undefined;
}

/**
 * Whether a member of a 202 is not the state of the transaction: GET has it too, and has the state elsewhere. Services that put an envelope
 * around everything call its outcome `status` as well. As long as the state is not final, it shows that the member is another thing only if
 * it has the same value in GET.
 */
export function isOfEnvelope(target: Target, { path, state }: FoundState, shown: Reply | undefined): boolean {
  if (shown === undefined || path === statePathOf(target, shown.json)) return false;
  const value = textOf(valueAt(shown.json, path));
  const own = stateOf(target, shown);
  return own !== undefined && !isFinal(target, own) ? value === state : value !== undefined;
}
