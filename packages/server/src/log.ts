import pino, { type DestinationStream, type Logger } from "pino";
import { prettyFactory } from "pino-pretty";
import { printable } from "./runtime/printable.js";

/**
 * What must never be written. Requests, their headers and their bodies are not logged at all; this is for a careless line of
 * ours. Deeper paths would be looked for in every request's logger, which cost 4 % of a small request.
 */
const secretPaths = ["authorization", "password", "secret", "token"];

/** Log lines: readable on a terminal, JSON everywhere else. */
export function createLogger(level: string, onTerminal: boolean): Logger {
  const options = { level, redact: secretPaths, timestamp: pino.stdTimeFunctions.isoTime };
  // Written at once: a line that waits in a buffer is lost with the process, and that line is the one to read then.
  const output = pino.destination({ dest: 1, sync: true });
  return pino(options, onTerminal ? createTerminalLines(output, true) : output);
}

/** Writes each line for a person: a request as one line, and nothing that a client has sent can move the cursor or hide text. */
export function createTerminalLines(
  output: Pick<DestinationStream, "write">,
  colorize: boolean,
): DestinationStream {
  const format = prettyFactory({
    colorize,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid,hostname",
    singleLine: true,
  });
  return {
    write: (line) => {
      output.write(format(toTerminal(JSON.parse(line))));
    },
  };
}

interface RequestLine {
  level: number;
  time: string;
  msg: "request";
  method: string;
  path: string;
  status: number;
  duration_ms: number;
  request_id: string;
}

function toTerminal(line: Record<string, unknown>): Record<string, unknown> {
  const { level, time, msg, ...fields } = line;
  if (!isRequestLine(line)) return { level, time, msg: safe(msg), ...(safe(fields) as object) };
  const { method, path, status, duration_ms, request_id } = line;
  // Milliseconds matter only if there are few of them.
  const duration = duration_ms < 10 ? duration_ms : Math.round(duration_ms);
  return { level, time, msg: printable(`${method} ${path} ${status} ${duration} ms ${request_id}`) };
}

function isRequestLine(line: object): line is RequestLine {
  return "msg" in line && line.msg === "request" && "status" in line && "path" in line;
}

/** Every string of a value, printable. The lines of a stack trace stay lines. */
function safe(value: unknown): unknown {
  if (typeof value === "string") return value.split("\n").map(printable).join("\n");
  if (Array.isArray(value)) return value.map(safe);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), safe(inner)]));
}
