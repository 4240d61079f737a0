import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { isObject } from "../src/http/reply.js";
import { readTarget } from "../src/target/read-target.js";
import { UsageFault } from "../src/target/read-values.js";

const page = readFileSync(new URL("../target-file.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
const environment = new Proxy({}, { get: () => "a-secret" }) as Record<string, string>;
const read = (source: string) =>
  readTarget(source, { baseUrl: "http://127.0.0.1:1", token: "t" }, environment);

it.each(blocks)("an example of the page about the target file is read: %s", (block) => {
  expect(() => read(block)).not.toThrow();
});

/** The names that the reader knows in a mapping, which it lists if there is one that it does not know. */
function knownNames(document: Record<string, unknown>, path: readonly string[]): string[] {
  const copy = structuredClone(document);
  const here = path.reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, copy);
  here["unknown_member"] = 1;
  try {
    read(stringify(copy));
  } catch (error) {
    if (error instanceof UsageFault) return /Known here: (.*)\.$/.exec(error.message)?.[1]?.split(", ") ?? [];
    throw error;
  }
  return [];
}

it("the page about the target file has every member with an example", () => {
  const written: Record<string, unknown> = Object.assign(
    {},
    ...blocks.map((block) => parse(block) as object).reverse(),
  );
  const inWebhooks = blocks
    .map((block) => (parse(block) as Record<string, unknown>)["webhooks"])
    .filter(isObject);
  const all = { ...written, webhooks: inWebhooks.find((one) => "rotate" in one) ?? {} };
  const missing: string[] = [];
  const look = (value: Record<string, unknown>, path: string[]) => {
    for (const name of knownNames(all, path))
      if (!(name in value) && !page.includes(`${name}:`)) missing.push([...path, name].join("."));
    for (const [name, inner] of Object.entries(value)) if (isObject(inner)) look(inner, [...path, name]);
  };
  look(all, []);
  expect(missing).toEqual([]);
});

it.each(["t\n", "t\r", "a\nb", "t\u0142"])("a token that no header can have is wrong usage: %j", (token) => {
  const given = { baseUrl: "http://127.0.0.1:1" };
  expect(() => readTarget("", { ...given, token }, {})).toThrow(UsageFault);
  const source = "token_env: OWN\nrevoked_token_env: OLD";
  expect(() => readTarget(source, given, { OWN: "t", OLD: token })).toThrow(
    "The environment variable OLD has",
  );
});
