import { NotOffered } from "../engine/check.js";
import { isObject, type Reply, valueAt } from "../http/reply.js";
import type { Target } from "../target/target.js";

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
  if (target.finalStates.length === 0)
    throw new NotOffered("The target file does not say which states are final (final_states).");
  return target.finalStates.includes(state);
}

interface FoundState {
  readonly path: string;
  readonly state: string;
}

/** Every final state in a 202, which can have another shape than the response of GET. */
export function finalStatesIn(target: Target, json: unknown): FoundState[] {
  const names = stateNames(target);
  const own = target.shown.state;
  const found: FoundState[] = [];
  const look = (value: unknown, prefix: string, depth: number) => {
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const path = `${prefix}${name}`;
      const state = textOf(inner);
      if ((names.includes(name) || path === own) && state !== undefined && isFinal(target, state))
        found.push({ path, state });
      if (depth > 1) look(inner, `${path}.`, depth - 1);
    }
  };
  look(json, "", Math.max(2, own?.split(".").length ?? 0));
  return found;
}

/**
 * Whether a member of a 202 is not the state of the transaction: GET has it too, and has the state elsewhere. Services that put an envelope
 * around everything call its outcome `status` as well.
 */
export function isOfEnvelope(target: Target, { path }: FoundState, shown: unknown): boolean {
  return path !== statePathOf(target, shown) && valueAt(shown, path) !== undefined;
}

function textOf(value: unknown): string | undefined {
  return (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : undefined;
}
