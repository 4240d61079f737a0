/** A fault in a document, and its location. */
export interface PolicyFault {
  /** The name of the rule; null outside the rules, and for a rule without a valid name. */
  rule: string | null;
  /** The path to the field: `rules.3.when.amount.min`. */
  field: string;
  /** The rest of a sentence that begins with the field. */
  reason: string;
}

/**
 * A value of a document, with its path and the list that its faults are added to. A reader returns the parsed value, or adds a fault and
 * returns undefined, so that one pass over a document finds all of its faults. A value can be anything that a JSON parser returns.
 */
export interface Field {
  value: unknown;
  rule: string | null;
  path: string;
  faults: PolicyFault[];
}

/** More faults would not help the author, and the size of a response is bounded. */
const faultsMax = 100;
const echoLengthMax = 64;

export function addFault({ rule, path, faults }: Field, reason: string): undefined {
  if (faults.length < faultsMax) faults.push({ rule, field: path, reason });
}

/** The members of an object, by name. Unknown members are faults, and so are missing required members. */
export function readObject(
  field: Field,
  required: readonly string[],
  optional: readonly string[],
): ReadonlyMap<string, Field> | undefined {
  const entries = readEntries(field);
  if (entries === undefined) return undefined;
  const members = new Map<string, Field>();
  for (const [name, member] of entries) {
    if (required.includes(name) || optional.includes(name)) members.set(name, member);
    else addFault(member, "is not a known field");
  }
  for (const name of required) {
    if (!members.has(name)) addFault({ ...field, path: join(field.path, name) }, "is required");
  }
  return members;
}

/** The members of an object with any names; at most as many as the maximum number of faults. */
export function readEntries(field: Field): [name: string, member: Field][] | undefined {
  const { value } = field;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return addFault(field, "must be an object");
  }
  return Object.keys(value)
    .slice(0, faultsMax)
    .map((name) => [name, memberOf(field, (value as Record<string, unknown>)[name], cut(name))]);
}

/** Written out, because spreading the field was a quarter of the time of compiling a large policy. */
function memberOf({ rule, path, faults }: Field, value: unknown, name: string): Field {
  return { value, rule, path: join(path, name), faults };
}

/** A list of values, each read separately. A duplicate is a fault. */
export function readSet<Value extends string>(
  field: Field | undefined,
  itemsMax: number,
  readItem: (item: Field) => Value | undefined,
): ReadonlySet<Value> | undefined {
  const items = field && readList(field, itemsMax);
  if (items === undefined) return undefined;
  const values = new Set<Value>();
  for (const item of items) {
    const value = readItem(item);
    if (value === undefined) continue;
    if (values.has(value)) addFault(item, "is listed twice");
    values.add(value);
  }
  return values;
}

/** The items of a list that is not empty. */
function readList(field: Field, itemsMax: number): Field[] | undefined {
  const { value } = field;
  if (!Array.isArray(value) || value.length === 0 || value.length > itemsMax) {
    return addFault(field, `must be a list of 1 to ${itemsMax} items`);
  }
  return value.map((item, index) => memberOf(field, item, String(index)));
}

export function readText(field: Field | undefined, lengthMax: number): string | undefined {
  if (field === undefined) return undefined;
  const { value } = field;
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) {
    return addFault(field, `must be a string of 1 to ${lengthMax} characters`);
  }
  return value;
}

export function readChoice<Choice extends string>(
  field: Field | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  if (field === undefined) return undefined;
  const chosen = choices.find((choice) => choice === field.value);
  return chosen ?? addFault(field, `must be one of ${choices.join(", ")}`);
}

export function readInteger(field: Field | undefined, min: number, max: number): number | undefined {
  if (field === undefined) return undefined;
  const { value } = field;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    return addFault(field, `must be a whole number from ${min} to ${max}`);
  }
  return value;
}

export function readBoolean(field: Field | undefined): boolean | undefined {
  if (field === undefined) return undefined;
  return typeof field.value === "boolean" ? field.value : addFault(field, "must be true or false");
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Truncates the name of an unknown field, which can be as long as the document. */
function cut(name: string): string {
  return name.length > echoLengthMax ? `${name.slice(0, echoLengthMax)}…` : name;
}
