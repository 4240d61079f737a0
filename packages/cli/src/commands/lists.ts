import type { Bursar, List, Operations } from "@bursar/client";
import { usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import type { Column } from "../terminal/columns.js";
import type { Argument, Command, Option } from "./command.js";

const limit: Option = {
  name: "limit",
  value: "count",
  about: "how many to list; 20 by default, `--all` for all",
};
const all: Option = { name: "all", about: "list all" };
const limitDefault = 20;
const limitMax = 1_000_000;
const pageMax = 200;

/** The options whose names are parameters of the query: `--wallet-id` is `wallet_id`. */
export function queryOf(given: Given, options: readonly Option[]): Record<string, string | string[]> {
  return Object.fromEntries(
    options.flatMap(({ name, many }) => {
      const value = many === true ? given.list(name) : given.text(name);
      return value === undefined || value.length === 0 ? [] : [[name.replaceAll("-", "_"), value]];
    }),
  );
}

/** A command that lists, newest first. */
export function listCommand<Query>(row: {
  path: string;
  summary: string;
  operation: keyof Operations;
  arguments?: readonly Argument[];
  options?: readonly Option[];
  columns: readonly Column[];
  read: (bursar: Bursar, query: Query, given: Given) => List<unknown, unknown>;
}): Command {
  const { operation, read, options = [], columns, ...rest } = row;
  return {
    ...rest,
    options: [...options, limit, all],
    operations: [operation],
    columns,
    run: async ({ bursar, output, io }, given) => {
      if (given.flag("all") && given.text("limit") !== undefined)
        throw usage("--limit and --all exclude each other.");
      const count = given.flag("all")
        ? limitMax
        : (given.number("limit", { min: 1, max: limitMax }) ?? limitDefault);
      const query = { ...queryOf(given, options), limit: Math.min(count, pageMax) };
      const list = read(await bursar(), query as Query, given);
      await output.list(take(list, count, io.signal), columns);
      return undefined;
    },
  };
}

async function* take(
  items: AsyncIterable<unknown>,
  count: number,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  let left = count;
  for await (const item of items) {
    if (left === 0 || signal.aborted) return;
    yield item;
    left -= 1;
    // The next page is not read for nothing.
    if (left === 0) return;
  }
}

/** A command that shows or changes one resource, which its only argument names. */
export function oneCommand(row: {
  path: string;
  summary: string;
  operation: keyof Operations;
  id: string;
  options?: readonly Option[];
  changes?: true;
  send: (bursar: Bursar, id: string, given: Given) => Promise<object | undefined>;
}): Command {
  const { operation, send, id, ...rest } = row;
  return {
    ...rest,
    arguments: [{ name: id, about: `the id of the ${id.replaceAll("-", " ")}` }],
    operations: [operation],
    run: async ({ bursar, output, note }, given) => {
      const shown = await send(await bursar(), given.argument(id), given);
      if (shown === undefined) note("done");
      else output.one(shown);
      return undefined;
    },
  };
}

/** Options that many commands have. */
export const idempotencyKey: Option = {
  name: "idempotency-key",
  value: "key",
  about: "the key that makes a repetition harmless; a random one by default",
};

export function keyOf(given: Given): { idempotencyKey?: string } {
  const key = given.text("idempotency-key");
  return key === undefined ? {} : { idempotencyKey: key };
}
