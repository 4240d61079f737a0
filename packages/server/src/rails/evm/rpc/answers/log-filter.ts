import { type ByteSink, createByteSink } from "./byte-sink.js";
import { type PassedLimits, readPassed } from "./read-passed.js";
import { createTextCut } from "./text-cut.js";

/** Whether a log of an answer is needed; called with what was parsed. */
export type IsLogKept = (log: unknown) => boolean;

/** The answer has so many logs that cannot be read that nothing of it is of use. */
class UnreadableLogsError extends Error {
  readonly code = "UNREADABLE_LOGS";
}

interface LogFilter {
  /** Writes what is left of the next piece of the answer. */
  readonly pass: (piece: Uint8Array) => void;
  /** How many bytes of a log are held back, because its end was not seen yet. */
  readonly heldBytes: () => number;
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const logsKey = [..."logs"].map((letter) => letter.charCodeAt(0));

const separator = Uint8Array.of(comma);
/** Each costs as much as a hundred that are read. */
const unreadableMax = 100;
/** A log has four topics, and the beginning of its data. One with more than that is of no chain, and parsing it can take seconds. */
const logBytesMax = 65_536;

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Leaves the logs that nobody needs out of JSON while it arrives: the objects of each list that is called `logs`. A contract can emit so many that
 * its receipt has tens of megabytes, and parsing these at once would hold up the event loop for seconds. What is not JSON does not become JSON.
 * Of a list with a log that cannot be read, that one is left, which makes the receipt unreadable, and no later one is looked at.
 */
function createLogFilter(isKept: IsLogKept, { write }: ByteSink): LogFilter {
  /** `name`: of the word `logs`, how many letters the string that is being read has shown; -1 if it is another string. */
  let name = -1;
  let isInString = false;
  let isEscaped = false;
  /** What has come of `"logs": [`, outside of strings. */
  let expects: "key" | "colon" | "list" = "key";
  /** How deep the log is that is being read; -1 outside of a list of logs, and 0 between two of them. */
  let depth = -1;
  let isFirst = true;
  let isUnreadable = false;
  let unreadable = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;

  function hold(part: Uint8Array): void {
    held.push(part);
    heldBytes += part.length;
    if (heldBytes > logBytesMax) throw new UnreadableLogsError();
  }

  function readStringByte(byte: number): void {
    if (isEscaped || byte === backslash) {
      isEscaped = !isEscaped;
      name = -1;
    } else if (byte === quote) {
      isInString = false;
      expects = depth < 0 && name === logsKey.length ? "colon" : "key";
    } else name = name >= 0 && logsKey[name] === byte ? name + 1 : -1;
  }

  /** Whether a list of logs begins here. */
  function isBegun(byte: number): boolean {
    if (isSpace(byte)) return false;
    const isList = expects === "list" && byte === openBracket;
    expects = expects === "colon" && byte === colon ? "list" : "key";
    return isList;
  }

  function isNeeded(log: Buffer): boolean {
    if (isUnreadable) return false;
    try {
      return isKept(JSON.parse(log.toString("utf8")));
    } catch {
      isUnreadable = true;
      unreadable += 1;
      if (unreadable > unreadableMax) throw new UnreadableLogsError();
      return true;
    }
  }

  function endLog(last: Uint8Array): void {
    hold(last);
    const log = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    if (!isNeeded(log)) return;
    if (!isFirst) write(separator);
    write(log);
    isFirst = false;
  }

  function pass(piece: Uint8Array): void {
    /** Where what was not passed on yet begins: of the log that is being read, or of what is outside of the list. */
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (isInString) readStringByte(byte);
      else if (byte === quote) {
        isInString = true;
        name = 0;
        expects = "key";
        if (depth === 0) write(piece.subarray(at, at + 1));
      } else if (depth < 0) {
        if (!isBegun(byte)) continue;
        write(piece.subarray(from, at + 1));
        depth = 0;
        isFirst = true;
        isUnreadable = false;
        from = at + 1;
      } else if (byte === openBrace || byte === openBracket) {
        if (depth === 0) from = at;
        depth += 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth === 0) {
          endLog(piece.subarray(from, at + 1));
          from = at + 1;
        } else if (depth < 0) from = at;
      } else if (depth === 0 && byte !== comma && !isSpace(byte)) write(piece.subarray(at, at + 1));
    }
    const rest = piece.subarray(from);
    if (depth < 0) write(rest);
    else if (depth > 0) hold(rest);
  }

  return { pass, heldBytes: () => heldBytes };
}

/**
 * Reads an answer without the logs that nobody needs, and of long strings only the beginning, within the limits of `readPassed`. An error if it has
 * too many logs that cannot be read, or one that is too large.
 */
export async function readWithoutLogs(
  body: AsyncIterable<Uint8Array>,
  isKept: IsLogKept,
  limits: PassedLimits,
): Promise<Buffer | undefined> {
  const left = createByteSink();
  const { pass, heldBytes } = createLogFilter(isKept, left);
  return await readPassed(body, { pass: createTextCut({ write: pass }), left, heldBytes, ...limits });
}
