import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { stringify } from "yaml";
import { valueAt } from "../http/reply.js";
import { safeLine } from "../report/safe-text.js";
import { readBaseUrl, readTarget, tokenVariable } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import { refuseUnwritable } from "./report-files.js";
import type { Console } from "./run-command.js";

/** Those that need no program. */
const signatureSchemes = ["standard-webhooks", "hmac"];

interface Question {
  readonly ask: string;
  readonly path: string;
  readonly usual: string;
  readonly isList?: boolean;
  /** Asked only if the answers so far make it meaningful. */
  readonly isAsked?: (values: Record<string, unknown>) => boolean;
  /** What the file has for an answer, if it is not the string itself. */
  readonly read?: (answer: string) => unknown;
  /** Throws a UsageFault for an answer that no target file may have. */
  readonly verify?: ((answer: string) => void) | undefined;
}

const hasWebhooks = (values: Record<string, unknown>) => values["webhooks"] !== undefined;
const isSignedBy = (scheme: string) => (values: Record<string, unknown>) =>
  valueAt(values, "webhooks.signature.scheme") === scheme;

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
    usual: "1.15",
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
    ask: "Path of the state in the body of GET /v1/transactions/{id}; empty if it is state or status",
    path: "shown.state",
    usual: "",
  },
  {
    ask: "A member and a value that policy refuses, such as amount=100000; empty for none",
    path: "refused_by_policy",
    usual: "",
    verify: mustMatch(/^([A-Za-z_][\w-]*=.+)?$/, "is not a member and a value such as amount=100000."),
    read: (answer) => ({ [answer.split("=")[0] ?? ""]: answer.slice(answer.indexOf("=") + 1) }),
  },
  {
    ask: "Path at which webhook endpoints are registered; empty for none",
    path: "webhooks.register.path",
    usual: "",
    verify: mustMatch(/^(\/.*)?$/, 'is not a path: it does not begin with "/".'),
  },
  {
    ask: "Member of its body that has the address of the receiver",
    path: "webhooks.register.body",
    usual: "url",
    isAsked: hasWebhooks,
    read: (answer) => ({ [answer]: "{url}" }),
  },
  {
    ask: "Where its response has the secret (body.… or header.…); empty if it has none",
    path: "webhooks.secret",
    usual: "",
    isAsked: hasWebhooks,
    verify: mustMatch(/^((body|header)\..+)?$/, 'does not begin with "body." or "header.".'),
  },
  {
    ask: `How notifications are signed (${signatureSchemes.join(", ")}); empty if it is not known`,
    path: "webhooks.signature.scheme",
    usual: "",
    isAsked: hasWebhooks,
    verify: (answer) => {
      if (answer !== "" && !signatureSchemes.includes(answer))
        throw new UsageFault(`${answer} is none of ${signatureSchemes.join(", ")}.`);
    },
  },
  {
    ask: "Header that has the signature",
    path: "webhooks.signature.header",
    usual: "X-Signature",
    isAsked: isSignedBy("hmac"),
  },
  {
    ask: "Hash of the signature",
    path: "webhooks.signature.algorithm",
    usual: "sha256",
    isAsked: isSignedBy("hmac"),
  },
  {
    ask: "What is signed; {body} is the bytes of the body, {header:NAME} a header",
    path: "webhooks.signature.content",
    usual: "{body}",
    isAsked: isSignedBy("hmac"),
  },
];

const comments = `# What the conformance kit cannot discover. target-file.md of the kit has every member:
# exact, revoked_token_env, second_tenant, shown, wallet, webhooks.remove, webhooks.secret_env, timing, profiles.
# State how long the service takes at most, in milliseconds, and what comes later is a failure:
# timing: { result_ms: 20000, webhook_ms: 20000, retry_ms: 30000 }
`;

/** Asks what every target file needs, and writes it. An existing file is not replaced. */
export async function initCommand([file = ""]: readonly string[], console: Console): Promise<number> {
  if (existsSync(file)) throw new UsageFault(`${file} exists already.`);
  refuseUnwritable(file);
  const input = createInterface({ input: console.input });
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
  readTarget(source, {}, new Proxy({}, { get: () => "not set yet" }));
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
