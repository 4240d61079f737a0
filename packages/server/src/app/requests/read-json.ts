/**
 * Parses JSON strictly. `JSON.parse` accepts duplicate keys, any depth, and keys that reach into prototypes. Two parsers can read such a
 * document differently, so it is refused.
 */
export type JsonReading = { value: unknown } | { fault: string };

const dangerousKeys = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Bounds on width, well above what any schema allows. Depth and bytes alone do not bound the time: 4 MiB of short keys, or of empty
 * objects, took 1.4 s to parse and refuse; within these bounds it takes 20 ms.
 */
const membersMax = 100;
const valuesMax = 100_000;

/** The longest form of a double: `-0.0000011926473223579281`. A longer number can have different values in different parsers. */
const numberLengthMax = 25;

export function readJson(text: string, depthMax: number): JsonReading {
  const shape = scan(text, depthMax);
  if ("fault" in shape) return shape;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: "The body is not valid JSON." };
  }
  // Only an escape can produce a NUL or a lone surrogate: the bytes have been checked as UTF-8.
  const faults: Faults = { members: 0, fault: undefined, checkText: text.includes("\\u") };
  inspect(value, faults);
  if (faults.fault !== undefined) return { fault: faults.fault };
  // Every colon outside a string is one member of an object; fewer members than colons means a duplicate key.
  if (faults.members !== shape.members) return { fault: "The body contains a duplicate key in an object." };
  return { value };
}

/** Counts the members of all objects and checks depth and width, in one pass before the parser allocates memory. */
function scan(text: string, depthMax: number): { members: number } | { fault: string } {
  const widths = [0];
  let depth = 0;
  let members = 0;
  let commas = 0;
  for (let index = 0; index < text.length; index++) {
    const charCode = text.charCodeAt(index);
    switch (charCode) {
      case 0x22 /* " */:
        index = endOfString(text, index + 1);
        break;
      case 0x3a /* : */:
        {
          members += 1;
          const width = (widths[depth] ?? 0) + 1;
          if (width > membersMax)
            return { fault: `An object in the body has more than ${membersMax} members.` };
          widths[depth] = width;
          break;
        }
      case 0x2c /* , */:
        commas += 1;
        if (commas > valuesMax) return { fault: `The body contains more than ${valuesMax} values.` };
        break;
      case 0x7b /* { */:
      case 0x5b /* [ */:
        depth += 1;
        if (depth > depthMax) return { fault: `The body is nested deeper than ${depthMax} levels.` };
        widths[depth] = 0;
        break;
      case 0x7d /* } */:
      case 0x5d /* ] */:
        depth -= 1;
        break;
      default: {
        const length = numberLength(text, index);
        if (length > numberLengthMax)
          return { fault: `The body contains a number of more than ${numberLengthMax} characters.` };
        if (length > 1) index += length - 1;
      }
    }
  }
  return { members };
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

interface Faults {
  members: number;
  fault: string | undefined;
  checkText: boolean;
}

function inspect(value: unknown, faults: Faults): void {
  if (typeof value === "string") {
    if (faults.checkText) inspectText(value, faults);
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) faults.fault ??= "The body contains a number that is too large.";
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, faults);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      faults.members += 1;
      if (dangerousKeys.has(key)) faults.fault ??= `The body contains the key ${key}, which is not allowed.`;
      if (faults.checkText) inspectText(key, faults);
      inspect((value as Record<string, unknown>)[key], faults);
    }
  }
}

function inspectText(text: string, faults: Faults): void {
  if (text.includes("\0")) faults.fault ??= "The body contains a NUL character.";
  else if (!text.isWellFormed()) faults.fault ??= "The body contains a lone surrogate.";
}
