import { readFileSync } from "node:fs";
import type { Transport } from "@bursar/client";
import { usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import type { Io } from "../terminal/io.js";
import { safeJson } from "../terminal/safe-text.js";
import type { Command, Context } from "./command.js";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export const apiCommands: readonly Command[] = [
  {
    path: "api",
    summary: "send any request of the API and print the response as JSON",
    arguments: [
      { name: "method", about: "the method", choices: methods },
      { name: "path", about: "such as /v1/transactions?limit=5" },
    ],
    options: [
      { name: "data", value: "json", about: "the body: JSON, @file, or - for the standard input" },
      { name: "header", value: "name:value", about: 'a further header, such as `If-Match: "3"`', many: true },
      { name: "idempotency-key", value: "key", about: "the key of a request that creates something" },
    ],
    operations: [],
    movesMoney: true,
    run: callApi,
  },
  {
    path: "token",
    summary: "print an access token",
    arguments: [{ name: "scopes", about: "further scopes", optional: true, many: true }],
    options: [
      {
        name: "scope",
        value: "scope",
        about: "a scope of the token; all of the client's scopes by default",
        many: true,
      },
    ],
    operations: ["POST /oauth/token"],
    run: async ({ transport, output }) => {
      output.text(await (await transport()).token());
      return undefined;
    },
  },
];

/** Any operation, also one that the client does not know. */
type AnyCall = (operation: string, input: object, options: object) => Promise<object | undefined>;

async function callApi(
  { transport, output, confirm, io, target, note }: Context,
  given: Given,
): Promise<undefined> {
  const [method, path] = [given.argument("method"), given.argument("path")];
  if (!/^\/[^\s#{}]*$/.test(path))
    throw usage("<path> must begin with a slash and contain no spaces, braces or #.");
  const body = await readBody(given.text("data"), io);
  const key = given.text("idempotency-key");
  if (method !== "GET") await confirm(`Send ${method} ${path} to ${(await target()).url}?`);
  const { call } = (await transport()) as Omit<Transport, "call"> & { call: AnyCall };
  const answer = await call(
    `${method} ${path}`,
    {
      headers: headersOf(given.list("header")),
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { keyed: true }),
    },
    key === undefined ? {} : { idempotencyKey: key },
  );
  if (answer === undefined) note("done");
  // Who asks for a request wants the response as it is, also on a terminal.
  else output.item(answer, () => safeJson(answer, 2));
  return undefined;
}

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((header): [string, string] => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(header) ?? [];
      if (name === undefined || /^(authorization|idempotency-key)$/i.test(name))
        throw usage("--header must be name:value, and not Authorization or Idempotency-Key.");
      return [name, value ?? ""];
    }),
  );
}

async function readBody(data: string | undefined, io: Io): Promise<unknown> {
  if (data === undefined) return undefined;
  try {
    if (data === "-") return JSON.parse(await io.readInput());
    return JSON.parse(data.startsWith("@") ? readFileSync(data.slice(1), "utf8") : data);
  } catch (cause) {
    throw usage(`--data cannot be read as JSON: ${(cause as Error).message.replaceAll(/\s+/g, " ")}`);
  }
}
