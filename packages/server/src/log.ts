import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

/**
 * What must never be written. Requests, their headers and their bodies are not logged at all; this is for a careless line of
 * ours. Deeper paths would be looked for in every request's logger, which cost 4 % of a small request.
 */
const secretPaths = ["authorization", "password", "secret", "token"];

/** Log lines: readable on a terminal, JSON everywhere else. */
export function createLogger(level: string, onTerminal: boolean): Logger {
  const options = { level, redact: secretPaths, timestamp: pino.stdTimeFunctions.isoTime };
  // Written at once: a line that waits in a buffer is lost with the process, and that line is the one to read then.
  if (!onTerminal) return pino(options, pino.destination({ dest: 1, sync: true }));
  const lines = pretty({
    colorize: true,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid,hostname",
    singleLine: true,
    sync: true,
  });
  return pino(options, lines);
}
