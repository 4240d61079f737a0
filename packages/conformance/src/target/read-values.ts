import { isObject } from "../http/reply.js";
import type { DescribedRequest, Place } from "./target.js";

/** What is wrong with a target file or a command line, as one sentence for the person who wrote it. */
export class UsageFault extends Error {
  override readonly name = "UsageFault";
}

/**
 * Reads an object of the target file member by member. `end` refuses members that nobody has asked for, so that a misspelt name does not
 * silently leave checks out.
 */
export interface ValueReader {
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => string[] | undefined;
  /** Names such as those of states, which can be numbers too. */
  readonly names: (name: string) => string[] | undefined;
  readonly whole: (name: string) => number | undefined;
  readonly wholes: (name: string) => number[] | undefined;
  readonly members: (name: string) => Record<string, unknown> | undefined;
  readonly any: (name: string) => unknown;
  readonly object: (name: string) => ValueReader | undefined;
  readonly path: string;
  readonly end: () => void;
}

export function readValues(value: unknown, path: string): ValueReader {
  if (!isObject(value)) throw new UsageFault(`${path || "The target file"} must be a mapping.`);
  const seen = new Set<string>();
  const full = (name: string) => (path === "" ? name : `${path}.${name}`);
  const take = <T>(name: string, wanted: string, is: (given: unknown) => given is T): T | undefined => {
    seen.add(name);
    const given = value[name];
    if (given === undefined || given === null) return undefined;
    if (!is(given)) throw new UsageFault(`${full(name)} must be ${wanted}.`);
    return given;
  };
  const isText = (given: unknown): given is string => typeof given === "string" && given !== "";
  const isWhole = (given: unknown): given is number => Number.isSafeInteger(given) && Number(given) >= 0;
  return {
    path,
    text: (name) => take(name, 'a string, in quotes if it looks like a number ("1.50")', isText),
    texts: (name) =>
      take(
        name,
        "a list of strings",
        (given): given is string[] => Array.isArray(given) && given.every(isText),
      ),
    names: (name) =>
      take(name, "a list of names", (given): given is (string | number)[] => {
        return Array.isArray(given) && given.every((one) => isText(one) || typeof one === "number");
      })?.map(String),
    whole: (name) => take(name, "a whole number", isWhole),
    wholes: (name) =>
      take(
        name,
        "a list of whole numbers",
        (given): given is number[] => Array.isArray(given) && given.every(isWhole),
      ),
    members: (name) => take(name, "a mapping", isObject),
    any: (name) => {
      seen.add(name);
      return value[name];
    },
    object: (name) => {
      seen.add(name);
      return value[name] === undefined || value[name] === null
        ? undefined
        : readValues(value[name], full(name));
    },
    end: () => {
      const unknown = Object.keys(value).find((name) => !seen.has(name));
      if (unknown !== undefined)
        throw new UsageFault(`${full(unknown)} is not known. Known here: ${[...seen].sort().join(", ")}.`);
    },
  };
}

export function readPlace(reader: ValueReader, name: string): Place | undefined {
  const text = reader.text(name);
  if (text === undefined || /^(body|header)\../.test(text)) return text as Place | undefined;
  const full = reader.path === "" ? name : `${reader.path}.${name}`;
  throw new UsageFault(`${full} must begin with "body." or "header.".`);
}

/** One of a few words; the first is the usual one. */
export function readChoice<T extends string>(
  reader: ValueReader,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = reader.text(name) ?? choices[0];
  const chosen = choices.find((one) => one === text);
  if (chosen !== undefined) return chosen;
  throw new UsageFault(`${reader.path}.${name} is ${text}, but must be ${choices.join(" or ")}.`);
}

/** A request in which `{run}` and these names in braces are replaced. */
export function readRequest(
  reader: ValueReader | undefined,
  names: readonly string[],
): DescribedRequest | undefined {
  if (reader === undefined) return undefined;
  const path = reader.text("path");
  if (path === undefined) throw new UsageFault(`${reader.path}.path is missing.`);
  if (!path.startsWith("/")) throw new UsageFault(`${reader.path}.path must begin with "/".`);
  const request = { method: reader.text("method") ?? "POST", path, body: reader.any("body") };
  reader.end();
  refuseUnknownNames(reader.path, JSON.stringify([path, request.body]), ["run", ...names]);
  return request;
}

/** A name in braces that nothing replaces would be sent as it is, and the service would refuse it or call that address. */
export function refuseUnknownNames(path: string, text: string, known: readonly string[]): void {
  for (const [braced, name = ""] of text.matchAll(/\{([A-Za-z_][\w-]*)\}/g))
    if (!known.includes(name))
      throw new UsageFault(
        `${path} contains ${braced}, which is not known. Known here: ${known.map((one) => `{${one}}`).join(", ")}.`,
      );
}
