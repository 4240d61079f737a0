import type { RequestNotice, ResponseNotice } from "@bursar/client";
import { type Command, isWatching } from "./commands/command.js";
import type { Given } from "./parse/given.js";
import type { Io } from "./terminal/io.js";
import type { Progress } from "./terminal/progress.js";
import { safe } from "./terminal/safe-text.js";
import { styleOf } from "./terminal/style.js";

/** A request that changes something, or would. */
export interface SentChange {
  operation: string;
  idempotencyKey: string | undefined;
  /** Whether it is known what it did. */
  isAnswered: boolean;
}

export interface RequestWatcher {
  onRequest: (notice: RequestNotice) => void;
  onResponse: (notice: ResponseNotice) => void;
  /** The last change that was sent. */
  change: () => SentChange | undefined;
}

/** Shows what is sent as far as a person wants to know it, and remembers the last change for the message of a failure. */
export function watchRequests(
  command: Command,
  given: Given,
  io: Io,
  { progress, note }: { progress: Progress; note: (text: string) => void },
): RequestWatcher {
  const style = styleOf(io, "err");
  const showsKey =
    given.text("idempotency-key") === undefined &&
    command.options?.some(({ name }) => name === "idempotency-key") === true;
  const noteConnection = isWatching(command, given) ? watchConnection(note) : () => {};
  let change: SentChange | undefined;
  return {
    change: () => change,
    onRequest: (notice) => {
      const { method, operation, url, attempt, idempotencyKey } = notice;
      if (method !== "GET" && operation !== "POST /oauth/token")
        change = { operation, idempotencyKey, isAnswered: false };
      // Before it is sent: if this process is killed, the key is all that is left to learn the outcome by.
      if (showsKey && attempt === 1 && idempotencyKey !== undefined)
        note(`The idempotency key is ${idempotencyKey}.`);
      progress.onRequest(notice);
      if (given.flag("verbose")) note(style.dim(safe(`> ${method} ${url}`)));
    },
    onResponse: (notice) => {
      const { operation, status, code, durationMs, requestId = "" } = notice;
      if (status !== undefined && status < 500 && change?.operation === operation)
        change = { ...change, isAnswered: true };
      progress.onResponse(notice);
      noteConnection(notice);
      if (given.flag("verbose"))
        note(style.dim(safe(`< ${status ?? code} in ${Math.round(durationMs)} ms ${requestId}`)));
    },
  };
}

/** A command that watches goes on when the service is back; it says that it waits. */
function watchConnection(note: (text: string) => void) {
  let isLost = false;
  return ({ status, code, url }: ResponseNotice): void => {
    if (code === "ABORTED" || isLost === (status === undefined)) return;
    isLost = status === undefined;
    const { origin } = new URL(url);
    note(safe(isLost ? `No connection to ${origin}; trying again.` : `Connected to ${origin} again.`));
  };
}
