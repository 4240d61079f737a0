import { Readable } from "node:stream";
import { main } from "../src/cli/main-command.js";
import { plainTokens } from "./servers/plain/plain-server.js";

/** The variables that the target files of the tests name. */
export const environment = { PLAIN_TOKEN: plainTokens.own, PLAIN_REVOKED: plainTokens.revoked };

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

interface RunOptions {
  readonly input?: string;
  readonly isAtTerminal?: boolean;
  readonly signal?: AbortSignal;
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
    input: Object.assign(Readable.from([input]), { isTTY: isAtTerminal }),
    environment,
    signal,
  };
  return { status: await main(args, console), out, err };
}
