import { PassThrough, Readable } from "node:stream";
import { main } from "../src/cli/main-command.js";
import { plainTokens } from "./servers/plain/plain-server.js";
import { failingAmount } from "./servers/plain/plain-times.js";

/** The variables that the target files of the tests name. */
export const environment = { PLAIN_TOKEN: plainTokens.own, PLAIN_REVOKED: plainTokens.revoked };

/** A target file of the Plain server. */
export const plainFile = `
token_env: PLAIN_TOKEN
revoked_token_env: PLAIN_REVOKED
transaction: { asset: USD, amount: "1.15" }
exact: { asset: ETH, amount: "0.010000000000000001" }
refused_by_policy: { amount: "5000" }
fails: { amount: "${failingAmount}" }
wallet: { body: { name: "{run}" }, final_states: [active] }
final_states: [completed, failed]
webhooks:
  register: { path: /v1/webhook-endpoints, body: { url: "{url}" } }
  secret: body.secret
  remove: { method: DELETE, path: "/v1/webhook-endpoints/{id}" }
  signature: { scheme: standard-webhooks }
  state: body.data.transaction.state
  amount: body.data.transaction.amount
  reference: body.data.transaction.reference
timing: { poll_ms: 5, result_ms: 3000, webhook_ms: 3000, retry_ms: 3000, quiet_ms: 60, key_ms: 20, request_ms: 5000 }
`;

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

interface RunOptions {
  readonly input?: string;
  readonly isAtTerminal?: boolean;
  /** Nothing is typed, and the input does not end. */
  readonly isInputOpen?: boolean;
  readonly signal?: AbortSignal;
  /** Of the environment, besides those that the target files of the tests name. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Called with each part of what the command writes to stderr, such as a mark of progress. */
  readonly onProgress?: (text: string) => void;
}

/** The command in this process, with what it prints. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { input = "", isAtTerminal = false, signal = new AbortController().signal } = options;
  let out = "";
  let err = "";
  const console = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
      options.onProgress?.(text);
    },
    input: Object.assign(options.isInputOpen === true ? new PassThrough() : Readable.from([input]), {
      isTTY: isAtTerminal,
    }),
    environment: { ...environment, ...options.variables },
    signal,
  };
  return { status: await main(args, console), out, err };
}
