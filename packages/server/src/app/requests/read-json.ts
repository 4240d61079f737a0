import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Parses JSON strictly. `JSON.parse` accepts duplicate keys, any depth, and keys that reach into prototypes. Two parsers can read such a
 * document differently, so it is refused.
 */
export type JsonReading = { value: unknown } | { fault: string };

const dangerousKeys = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Bounds on width, well above what any schema allows. Depth and bytes alone do not bound the time: 4 MiB of short keys, or of empty
 * objects, took 1.4 s to parse and refuse; within these bounds it takes 40 ms of CPU.
 */
const membersMax = 100;
const valuesMax = 50_000;

/** The longest form of a double: `-0.0000011926473223579281`. A longer number can have different values in different parsers. */
const numberLengthMax = 25;

/** Above this size, slices of the work alternate with other requests. Only the parser runs in one piece: 6 to 13 ms of CPU for 4 MiB. */
const sliceChars = 262_144;
const sliceValues = 10_000;

export function readJson(text: string, depthMax: number): JsonReading {
  const scan = beginScan();
  const fault = scanUntil(text, text.length, depthMax, scan);
  if (fault !== undefined) return { fault };
  const parsed = parse(text);
  if ("fault" in parsed) return parsed;
  const inspection = beginInspection(text, parsed.value);
  inspectSome(inspection, Number.POSITIVE_INFINITY);
  return conclude(parsed.value, inspection, scan);
}

/** The same for a large document, in slices between which the event loop does other work. */
export async function readJsonInSlices(text: string, depthMax: number): Promise<JsonReading> {
  const scan = beginScan();
  for (let end = sliceChars; scan.index < text.length; end += sliceChars) {
    const fault = scanUntil(text, Math.min(end, text.length), depthMax, scan);
    if (fault !== undefined) return { fault };
    await nextTurn();
  }
  const parsed = parse(text);
  if ("fault" in parsed) return parsed;
  const inspection = beginInspection(text, parsed.value);
  while (inspection.stack.length > 0) {
    await nextTurn();
    inspectSome(inspection, sliceValues);
  }
  return conclude(parsed.value, inspection, scan);
}

function parse(text: string): JsonReading {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: "The body is not valid JSON." };
  }
}

function conclude(value: unknown, { fault, members }: Inspection, scan: Scan): JsonReading {
  if (fault !== undefined) return { fault };
  // Every colon outside a string is one member of an object; fewer members than colons means a duplicate key.
  if (members !== scan.members) return { fault: "The body contains a duplicate key in an object." };
  return { value };
}

/** How far a document has been scanned, and what was counted. */
interface Scan {
  index: number;
  depth: number;
  members: number;
  commas: number;
  widths: number[];
}

function beginScan(): Scan {
  return { index: 0, depth: 0, members: 0, commas: 0, widths: [0] };
}

/** Counts the members of all objects and checks depth and width, in one pass before the parser allocates memory. Returns a fault. */
function scanUntil(text: string, end: number, depthMax: number, scan: Scan): string | undefined {
  let { index, depth, members, commas } = scan;
  const { widths } = scan;
  for (; index < end; index++) {
    const charCode = text.charCodeAt(index);
    switch (charCode) {
      case 0x22 /* " */:
        index = endOfString(text, index + 1);
        break;
      case 0x3a /* : */:
        {
          members += 1;
          const width = (widths[depth] ?? 0) + 1;
          if (width > membersMax) return `An object in the body has more than ${membersMax} members.`;
          widths[depth] = width;
          break;
        }
      case 0x2c /* , */:
        commas += 1;
        if (commas > valuesMax) return `The body contains more than ${valuesMax} values.`;
        break;
      case 0x7b /* { */:
      case 0x5b /* [ */:
        depth += 1;
        if (depth > depthMax) return `The body is nested deeper than ${depthMax} levels.`;
        widths[depth] = 0;
        break;
      case 0x7d /* } */:
      case 0x5d /* ] */:
        depth -= 1;
        break;
      default: {
        const length = numberLength(text, index);
        if (length > numberLengthMax)
          return `The body contains a number of more than ${numberLengthMax} characters.`;
        if (length > 1) index += length - 1;
      }
    }
  }
  Object.assign(scan, { index, depth, members, commas });
  return undefined;
}

/** The length of what can be a number at this position; the parser checks whether it is one. */
function numberLength(text: string, start: number): number {
  let end = start;
  while (end - start <= numberLengthMax && isOfNumber(text.charCodeAt(end))) end += 1;
  return end - start;
}

function isOfNumber(charCode: number): boolean {
  // Digits, point, plus, minus, and e in either case.
  if (charCode >= 0x30 && charCode <= 0x39) return true;
  return charCode === 0x2e || charCode === 0x2b || charCode === 0x2d || (charCode | 0x20) === 0x65;
}

/** The position of the closing quote of a string, or the end of the document if there is none, which the parser then refuses. */
function endOfString(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const charCode = text.charCodeAt(index);
    if (charCode === 0x5c /* \ */) index += 1;
    else if (charCode === 0x22 /* " */) return index;
  }
  return text.length;
}

/** The values of a document that have not been inspected yet, and what was found so far. */
interface Inspection {
  stack: unknown[];
  members: number;
  fault: string | undefined;
  checkText: boolean;
}

function beginInspection(text: string, value: unknown): Inspection {
  // Only an escape can produce a NUL or a lone surrogate: the bytes have been checked as UTF-8.
  return { stack: [value], members: 0, fault: undefined, checkText: text.includes("\\u") };
}

function inspectSome(found: Inspection, valuesMaxNow: number): void {
  const { stack } = found;
  for (let count = 0; count < valuesMaxNow && stack.length > 0; count++) {
    const value = stack.pop();
    if (typeof value === "string") {
      if (found.checkText) inspectText(value, found);
    } else if (typeof value === "number") {
      if (!Number.isFinite(value)) found.fault ??= "The body contains a number that is too large.";
    } else if (Array.isArray(value)) {
      for (const item of value) stack.push(item);
    } else if (typeof value === "object" && value !== null) {
      for (const key of Object.keys(value)) {
        found.members += 1;
        if (dangerousKeys.has(key)) found.fault ??= `The body contains the key ${key}, which is not allowed.`;
        if (found.checkText) inspectText(key, found);
        stack.push((value as Record<string, unknown>)[key]);
      }
    }
  }
}

function inspectText(text: string, found: Inspection): void {
  if (text.includes("\0")) found.fault ??= "The body contains a NUL character.";
  else if (!text.isWellFormed()) found.fault ??= "The body contains a lone surrogate.";
}
