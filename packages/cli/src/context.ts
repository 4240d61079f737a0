import { type BursarOptions, createBursar, createTransport } from "@bursar/client";
import type { Command, Context } from "./commands/command.js";
import { CliError } from "./exit-codes.js";
import type { Given } from "./parse/given.js";
import { findTarget, isLocal, type Target } from "./profiles/target.js";
import type { Io } from "./terminal/io.js";
import { createOutput } from "./terminal/output.js";
import { createProgress } from "./terminal/progress.js";
import { safe } from "./terminal/safe-text.js";
import { type SentChange, watchRequests } from "./watch-requests.js";

/** A person waits: fewer attempts than a program would make. */
const retriesMax = 2;

const cleanupBudgetMs = 5000;

export interface Running {
  context: Context;
  /** The service, once it is known. */
  target: () => Target | undefined;
  /** The last change that was sent. */
  change: () => SentChange | undefined;
  close: () => void;
}

export function createContext(command: Command, given: Given, io: Io): Running {
  const progress = createProgress(io);
  const asked = given.flag("json") ? "json" : given.flag("jsonl") ? "jsonl" : undefined;
  const note = (text: string) => {
    progress.clear();
    io.err(`${text}\n`);
  };
  let target: Promise<Target> | undefined;
  let known: Target | undefined;
  const findOnce = () => {
    target ??= findTarget(given, io).then((found) => {
      warnOfPlainHttp(found, note);
      known = found;
      return found;
    });
    return target;
  };
  const requests = watchRequests(command, given, io, { progress, note });
  const options = async (): Promise<BursarOptions> => {
    const { url, credentials } = await findOnce();
    const scopes = command.path === "token" ? [...given.list("scope"), ...given.all("scopes")] : [];
    return {
      baseUrl: url,
      credentials,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      retriesMax,
      signal: io.signal,
      onRequest: requests.onRequest,
      onResponse: requests.onResponse,
    };
  };
  const context: Context = {
    io,
    output: createOutput(io, asked, progress),
    target: findOnce,
    bursar: async () => createBursar(await options()),
    bursarForCleanup: async () => {
      const { signal: _, ...rest } = await options();
      return createBursar({ ...rest, budgetMs: cleanupBudgetMs });
    },
    transport: async () => createTransport(await options()),
    note: (text) => note(safe(text)),
    confirm: async (question) => {
      // A script has decided when it was written.
      if (given.flag("yes") || !io.isTerminal.in || !io.isTerminal.err) return;
      progress.clear();
      const answer = await io.ask(`${safe(question)} [y/N] `, { hidden: false });
      if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CliError("Nothing was sent.");
    },
  };
  return { context, target: () => known, change: requests.change, close: progress.end };
}

function warnOfPlainHttp({ url }: Target, note: (text: string) => void): void {
  if (new URL(url).protocol === "http:" && !isLocal(url))
    note(
      safe(`Warning: ${url} is not encrypted, so others on the network can read the secret and the token.`),
    );
}
