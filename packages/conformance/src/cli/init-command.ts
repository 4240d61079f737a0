import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { stringify } from "yaml";
import { tokenVariable } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import { defaultTiming } from "../target/target.js";
import type { Console } from "./run-command.js";

interface Question {
  readonly ask: string;
  readonly path: string;
  readonly usual: string;
  readonly isList?: boolean;
}

const questions: readonly Question[] = [
  { ask: "Address of the service", path: "base_url", usual: "http://127.0.0.1:8080" },
  { ask: "Environment variable that holds an access token", path: "token_env", usual: tokenVariable },
  { ask: "Asset that is safe to use", path: "transaction.asset", usual: "USD" },
  { ask: "Amount of each transaction", path: "transaction.amount", usual: "1.01" },
  { ask: "Where a 202 has the id (body.… or header.…)", path: "accepted_id", usual: "body.id" },
  {
    ask: "Final states of a transaction, separated by commas",
    path: "final_states",
    usual: "completed,failed",
    isList: true,
  },
  {
    ask: "Path at which webhook endpoints are registered; empty for none",
    path: "webhooks.register.path",
    usual: "",
  },
];

const comments = `# What the conformance kit cannot discover. target-file.md of the kit has every member:
# refused_by_policy, exact, revoked_token_env, second_tenant, webhooks.signature, timing, profiles.
# timing states how long the service takes at most, in milliseconds; what comes later is a failure.
`;

/** Asks what every target file needs, and writes it. An existing file is not replaced. */
export async function initCommand([file = ""]: readonly string[], console: Console): Promise<number> {
  if (existsSync(file)) throw new UsageFault(`${file} exists already.`);
  const input = createInterface({ input: console.input });
  const lines = input[Symbol.asyncIterator]();
  const values: Record<string, unknown> = {};
  try {
    for (const { ask, path, usual, isList } of questions) {
      console.err(`${ask}${usual === "" ? "" : ` [${usual}]`}: `);
      const given = await lines.next();
      const text = (given.done === true ? "" : given.value.trim()) || usual;
      if (text !== "") setAt(values, path, isList === true ? text.split(",").map((one) => one.trim()) : text);
    }
  } finally {
    input.close();
  }
  if (values["webhooks"] !== undefined) setAt(values, "webhooks.register.body", { url: "{url}" });
  const { resultMs, webhookMs, retryMs } = defaultTiming;
  values["timing"] = { result_ms: resultMs, webhook_ms: webhookMs, retry_ms: retryMs };
  writeFileSync(file, comments + stringify(values), { flag: "wx" });
  console.out(`Wrote ${file}. Run: bursar-conformance --target ${file}\n`);
  return 0;
}

function setAt(values: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let here = values;
  for (const name of names) {
    here[name] ??= {};
    here = here[name] as Record<string, unknown>;
  }
  here[last] = value;
}
