import type { PolicyDocument } from "@bursar/client";

/** A document is edited as JSON, which can be anything while it is typed; a form changes single members of it. */

export type Path = readonly (string | number)[];

export type ReadDocument =
  | { document: PolicyDocument; fault?: undefined }
  | { document?: undefined; fault: string };

export function readDocument(text: string): ReadDocument {
  try {
    const value: unknown = JSON.parse(text);
    const isDocument =
      isObject(value) &&
      Array.isArray(value["rules"]) &&
      value["rules"].every(isObject) &&
      isObject(value["default"]);
    return isDocument
      ? { document: value as unknown as PolicyDocument }
      : { fault: "It must be an object with the list rules and the object default." };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

export function writeDocument(document: unknown): string {
  return JSON.stringify(document, null, 2);
}

/** The same document, whatever the order of the members of its objects. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

export function isSameDocument(one: unknown, other: unknown): boolean {
  return writeDocument(canonical(one)) === writeDocument(canonical(other));
}

export function readAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

/** A copy with another value at a path. Without a value the member is removed, and an object that is empty then, except `when`. */
export function changeAt(value: unknown, [step, ...rest]: Path, change: unknown): unknown {
  if (step === undefined) return change;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? changeAt(item, rest, change) : item));
  const { [step]: old, ...others } = isObject(value) ? value : {};
  const changed = changeAt(old, rest, change);
  const isEmpty = isObject(changed) && Object.keys(changed).length === 0 && step !== "when";
  if (changed === undefined || isEmpty) return others;
  return isObject(value) ? { ...value, [step]: changed } : { [step]: changed };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
