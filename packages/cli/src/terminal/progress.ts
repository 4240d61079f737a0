import type { RequestNotice, ResponseNotice } from "@bursar/client";
import type { Io } from "./io.js";
import { safe } from "./safe-text.js";

/** Shows on a terminal that a request takes longer than a second. */
export interface Progress {
  onRequest: (notice: RequestNotice) => void;
  onResponse: (notice: ResponseNotice) => void;
  /** Removes the line, so that something else can be written. */
  clear: () => void;
  end: () => void;
}

const afterMs = 1000;
const eraseLine = "\r\u001b[K";

export function createProgress(io: Io): Progress {
  let waiting: { what: string; since: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;

  const clear = () => {
    if (isShown) io.err(eraseLine);
    isShown = false;
  };
  const show = () => {
    if (waiting === undefined) return;
    const seconds = Math.round((performance.now() - waiting.since) / 1000);
    io.err(`${eraseLine}waiting for ${waiting.what}, ${seconds} s`);
    isShown = true;
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    waiting = undefined;
    clear();
  };
  if (!io.isTerminal.err) return { onRequest: () => {}, onResponse: () => {}, clear, end: stop };
  return {
    onRequest: ({ method, url, attempt }) => {
      // A repeated attempt is the same wait.
      if (attempt > 1 && waiting !== undefined) return;
      waiting = { what: safe(`${method} ${new URL(url).pathname}`), since: performance.now() };
      timer ??= setInterval(show, afterMs).unref();
    },
    onResponse: ({ status }) => {
      // What has failed may be repeated after a pause.
      if (status !== undefined && status < 500 && status !== 429 && status !== 408) stop();
    },
    clear,
    end: stop,
  };
}
