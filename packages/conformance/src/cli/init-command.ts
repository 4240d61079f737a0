import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { stringify } from "yaml";
import { safeLine } from "../report/safe-text.js";
import { readBaseUrl, tokenVariable } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import { defaultTiming } from "../target/target.js";
import { refuseUnwritable } from "./report-files.js";
import type { Console } from "./run-command.js";

interface Question {
  readonly ask: string;
  readonly path: string;
  readonly usual: string;
  readonly isList?: boolean;
  /** Throws a UsageFault for an answer that no target file may have. */
  readonly verify?: ((answer: string) => void) | undefined;
}

const mustMatch = (form: RegExp, sentence: string) => (answer: string) => {
  if (!form.test(answer)) throw new UsageFault(`${answer} ${sentence}`);
};

const questions: readonly Question[] = [
  { ask: "Address of the service", path: "base_url", usual: "http://127.0.0.1:8080", verify: readBaseUrl },
  {
    ask: "Environment variable that holds an access token",
    path: "token_env",
    usual: tokenVariable,
    verify: mustMatch(/^[A-Za-z_]\w*$/, "is not the name of an environment variable."),
  },
  { ask: "Asset that is safe to use", path: "transaction.asset", usual: "USD" },
  {
    ask: "Amount of each transaction",
    path: "transaction.amount",
    usual: "1.01",
    verify: mustMatch(/^\d+(\.\d+)?$/, 'is not a decimal number such as "1.50".'),
  },
  {
    ask: "Where a 202 has the id (body.… or header.…)",
    path: "accepted_id",
    usual: "body.id",
    verify: mustMatch(/^(body|header)\../, 'does not begin with "body." or "header.".'),
  },
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
    verify: mustMatch(/^(\/.*)?$/, 'is not a path: it does not begin with "/".'),
  },
];

const comments = `# What the conformance kit cannot discover. target-file.md of the kit has every member:
# refused_by_policy, exact, revoked_token_env, second_tenant, webhooks.signature, timing, profiles.
# timing states how long the service takes at most, in milliseconds; what comes later is a failure.
`;

/** Asks what every target file needs, and writes it. An existing file is not replaced. */
export async function initCommand([file = ""]: readonly string[], console: Console): Promise<number> {
  if (existsSync(file)) throw new UsageFault(`${file} exists already.`);
  refuseUnwritable(file);
  const input = createInterface({ input: console.input });
  const lines = input[Symbol.asyncIterator]();
  const values: Record<string, unknown> = {};
  try {
    for (const { ask, path, usual, isList, verify } of questions) {
      const text = await askFor({ ask, usual, verify }, lines, console);
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

/** At a terminal a wrong answer is asked for again. In a pipe the next line is the answer to the next question, so it ends the command. */
async function askFor(
  { ask, usual, verify }: Pick<Question, "ask" | "usual" | "verify">,
  lines: AsyncIterator<string>,
  console: Console,
): Promise<string> {
  for (;;) {
    console.err(`${ask}${usual === "" ? "" : ` [${usual}]`}: `);
    const given = await lines.next();
    const text = (given.done === true ? "" : given.value.trim()) || usual;
    try {
      verify?.(text);
      return text;
    } catch (error) {
      const isAtTerminal = "isTTY" in console.input && console.input.isTTY === true;
      if (!(error instanceof UsageFault) || !isAtTerminal) throw error;
      console.err(`${safeLine(error.message)}\n`);
    }
  }
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
