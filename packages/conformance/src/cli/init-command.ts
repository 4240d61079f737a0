import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { stringify } from "yaml";
import { safeLine } from "../report/safe-text.js";
import { readTarget } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import { type Question, questions } from "./init-questions.js";
import { refuseUnwritable } from "./report-files.js";
import type { Console } from "./run-command.js";

const comments = `# What the conformance kit cannot discover. target-file.md of the kit has every member:
# shown, wallet, reference, webhooks.secret_env, webhooks.activate, webhooks.rotate, stream, documents, profiles.
# State how long the service takes at most, in milliseconds, and what comes later is a failure:
# timing: { result_ms: 20000, webhook_ms: 20000, retry_ms: 30000 }
`;

/** Asks what every target file needs, and writes it. An existing file is not replaced. */
export async function initCommand([file = ""]: readonly string[], console: Console): Promise<number> {
  if (existsSync(file)) throw new UsageFault(`${file} exists already.`);
  refuseUnwritable(file);
  const input = createInterface({ input: console.input });
  console.signal.addEventListener("abort", () => input.close(), { once: true });
  const lines = input[Symbol.asyncIterator]();
  const values: Record<string, unknown> = {};
  try {
    for (const question of questions) {
      if (question.isAsked?.(values) === false) continue;
      const text = await askFor(question, lines, console);
      if (text !== "") setAt(values, question.path, readAnswer(question, text));
    }
  } finally {
    input.close();
  }
  const source = comments + stringify(values);
  refuseUnreadable(source);
  writeFileSync(file, source, { flag: "wx" });
  console.out(`Wrote ${file}. Run: bursar-conformance --target ${file}\n`);
  return 0;
}

/** What `init` writes can be read, whatever the answers were. Secrets are not set yet. */
function refuseUnreadable(source: string): void {
  readTarget(source, {}, new Proxy({}, { get: (_, name) => `${String(name)} is not set yet` }));
}

function readAnswer({ isList, read }: Question, text: string): unknown {
  if (isList === true) return text.split(",").map((one) => one.trim());
  return read === undefined ? text : read(text);
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
    if (given.done === true)
      throw new UsageFault("The input ended before the last question, so nothing was written.");
    const text = given.value.trim() || usual;
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
