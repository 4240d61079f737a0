import type { ApiClient } from "../clients/client.js";

type Named = Pick<ApiClient, "name" | "scopes" | "state" | "requireSignature" | "person" | "quotas">;

/** A name has at most 256 characters, and a space becomes three. */
const valueLengthMax = 800;

/**
 * What an entry of the audit log names of a change, beside the client: otherwise a name or a scope that somebody had for a minute would
 * leave no trace. Scopes are a closed list, so that the number is bounded. A client that is new has nothing before.
 */
export function nameChange(before: Named | undefined, after: Named): string[] {
  const value = (name: string, of: (client: Named) => string | undefined) => {
    const [old, next] = [before && of(before), of(after)];
    if (old === next || next === undefined) return [];
    return [
      `${name}:${withoutSpaces(next)}`,
      ...(old === undefined ? [] : [`${name}_before:${withoutSpaces(old)}`]),
    ];
  };
  return [
    ...value("name", ({ name }) => name),
    ...value("role", ({ person }) => person?.role),
    ...value("state", ({ state }) => (before === undefined ? undefined : state)),
    ...value("require_signature", ({ requireSignature }) => String(requireSignature)).filter(
      (one) => before !== undefined || one.endsWith(":true"),
    ),
    ...value("quotas", ({ quotas }) => (before === undefined ? undefined : JSON.stringify(quotas))),
    ...nameScopes(before?.scopes ?? [], after.scopes),
  ];
}

export function nameScopes(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...after.filter((scope) => !before.includes(scope)).map((scope) => `scope_added:${scope}`),
    ...before.filter((scope) => !after.includes(scope)).map((scope) => `scope_removed:${scope}`),
  ];
}

/** As in a URL: what an entry names has no space, and `decodeURIComponent` reads it, so that no character is cut in two. */
function withoutSpaces(value: string): string {
  let text = "";
  for (const one of value) {
    const next = /[%\s]/u.test(one) ? encodeURIComponent(one) : one;
    if (text.length + next.length > valueLengthMax) break;
    text += next;
  }
  return text;
}
