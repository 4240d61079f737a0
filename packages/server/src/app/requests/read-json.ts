/**
 * Reads JSON as strictly as money deserves. `JSON.parse` takes the last of two equal keys, any depth, and keys that
 * reach into prototypes; two readers of such a text can disagree about what it says, so it is refused.
 */
export type JsonReading = { value: unknown } | { fault: string };

const dangerousKeys = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Bounds on width, well above anything that a schema of ours takes. Depth and bytes alone do not bound the time: 4 MiB of short
 * keys, or of empty objects, took 1.4 s to read and to refuse; within these bounds it is 20 ms.
 */
const membersMax = 100;
const valuesMax = 100_000;

/** No double is written longer: `-0.0000011926473223579281`. What is longer means one number to one reader and another to the next. */
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
  // Only an escape can smuggle in a NUL or half a surrogate pair: the bytes themselves have been checked as UTF-8.
  const faults: Faults = { members: 0, fault: undefined, checkText: text.includes("\\u") };
  inspect(value, faults);
  if (faults.fault !== undefined) return { fault: faults.fault };
  // Every colon outside a string is one member of an object; fewer members than colons means a repeated key.
  if (faults.members !== shape.members) return { fault: "The body repeats a key within one object." };
  return { value };
}

/** Counts the members of all objects and refuses depth and width before the parser allocates for them. One pass. */
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
            return { fault: `An object of the body has more than ${membersMax} members.` };
          widths[depth] = width;
          break;
        }
      case 0x2c /* , */:
        commas += 1;
        if (commas > valuesMax) return { fault: `The body holds more than ${valuesMax} values.` };
        break;
      case 0x7b /* { */:
      case 0x5b /* [ */:
        depth += 1;
        if (depth > depthMax) return { fault: `The body nests deeper than ${depthMax} levels.` };
        widths[depth] = 0;
        break;
      case 0x7d /* } */:
      case 0x5d /* ] */:
        depth -= 1;
        break;
      default: {
        const length = numberLength(text, index);
        if (length > numberLengthMax)
          return { fault: `The body holds a number of more than ${numberLengthMax} characters.` };
        if (length > 1) index += length - 1;
      }
    }
  }
  return { members };
}

/** How many characters from here on can be of one number; whether they make one is the parser's business. */
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

/** The position of the quote that ends a string; the end of the text where none does, which the parser then refuses. */
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
    if (!Number.isFinite(value)) faults.fault ??= "The body holds a number that is too large.";
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, faults);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      faults.members += 1;
      if (dangerousKeys.has(key)) faults.fault ??= `The body holds the key ${key}, which is not allowed.`;
      if (faults.checkText) inspectText(key, faults);
      inspect((value as Record<string, unknown>)[key], faults);
    }
  }
}

function inspectText(text: string, faults: Faults): void {
  if (text.includes("\0")) faults.fault ??= "The body holds a NUL character.";
  else if (!text.isWellFormed()) faults.fault ??= "The body holds half of a surrogate pair.";
}
