import { quoteValue } from "./quote-value.js";
import type { Setting } from "./setting.js";

/** The fields of an entry. Each is a setting of its own, and is required unless it has a default. */
type Fields = Readonly<Record<string, Setting<string> | Setting<number>>>;

type FieldValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends { read: (text: string) => infer T | undefined } ? T : never;
};

/** An error in an entry whose fields are well-formed: the field, and what it must be. */
interface EntryFault {
  field: string;
  allowed: string;
}

/**
 * A setting that is a list of entries, such as the assets. It can only be set in the configuration file, and a configured list replaces
 * the default list as a whole.
 */
export interface ListSetting<Entry> {
  /** Its purpose, in one sentence. */
  about: string;
  default: readonly Entry[];
  /** Entries that the documentation shows, if there is no default. */
  example?: readonly Entry[];
  /** The same as it is written in the file, if formatting would mask a secret. */
  exampleTexts?: readonly Readonly<Record<string, string>>[];
  entriesMax: number;
  fields: Fields;
  /** Reads the value under its key in the file, with all scalars as strings; throws a `ListFault`. */
  read: (written: unknown) => readonly Entry[];
  /** Formats an entry, field by field. */
  show(entry: Entry): Readonly<Record<string, string | number>>;
}

/** An error in a list: its position, and a message that ends a sentence. */
export class ListFault extends Error {
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

export interface ListOptions<F extends Fields, Entry> {
  about: string;
  default: readonly Entry[];
  example?: readonly Entry[];
  exampleTexts?: readonly Readonly<Record<string, string>>[];
  entriesMax: number;
  fields: F;
  /** Makes an entry of its fields, or names the field that does not fit the others. */
  make: (values: FieldValues<F>) => Entry | EntryFault;
  /** The names that an entry is looked up by, with their fields. They are unique, regardless of case. */
  namesOf: (entry: Entry) => Readonly<Record<string, string>>;
  show: (entry: Entry) => Readonly<Record<string, string | number>>;
}

export function list<const F extends Fields, Entry extends object>(
  options: ListOptions<F, Entry>,
): ListSetting<Entry> {
  const { about, entriesMax, fields, show } = options;
  return {
    about,
    default: options.default,
    ...(options.example === undefined ? {} : { example: options.example }),
    ...(options.exampleTexts === undefined ? {} : { exampleTexts: options.exampleTexts }),
    entriesMax,
    fields,
    show,
    read: (written) => {
      if (!Array.isArray(written) || written.length === 0 || written.length > entriesMax)
        throw new ListFault("", `must be a list of 1 to ${entriesMax} entries`);
      const entries = written.map((entry, index) => readEntry(options, entry, `[${index}]`));
      refuseRepeated(entries, options.namesOf);
      return entries;
    },
  };
}

function readEntry<F extends Fields, Entry extends object>(
  { fields, make }: ListOptions<F, Entry>,
  written: unknown,
  place: string,
): Entry {
  if (typeof written !== "object" || written === null || Array.isArray(written))
    throw new ListFault(place, `must be a mapping with ${Object.keys(fields).join(", ")}`);
  const texts = written as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(texts)) {
    if (!Object.hasOwn(fields, name))
      throw new ListFault(
        place,
        `has the unknown field ${name}. The fields are ${Object.keys(fields).join(", ")}`,
      );
  }
  const values = Object.entries(fields).map(([name, field]) => [
    name,
    readField(field, texts[name], `${place}.${name}`),
  ]);
  const made = make(Object.fromEntries(values) as FieldValues<F>);
  if (!isFault(made)) return made;
  throw new ListFault(
    `${place}.${made.field}`,
    `is ${quoteValue(texts[made.field])}: it must be ${made.allowed}`,
  );
}

function readField(field: Setting<string> | Setting<number>, written: unknown, place: string) {
  if (written === undefined) {
    if (field.default !== undefined) return field.default;
    throw new ListFault(place, `is missing: it must be ${field.allowed}`);
  }
  const value = typeof written === "string" ? field.read(written) : undefined;
  if (value !== undefined) return value;
  const shown = field.isSecret === true ? "not valid" : quoteValue(written);
  throw new ListFault(place, `is ${shown}: it must be ${field.allowed}`);
}

function refuseRepeated<Entry>(
  entries: readonly Entry[],
  namesOf: (entry: Entry) => Readonly<Record<string, string>>,
): void {
  const firstByName = new Map<string, number>();
  entries.forEach((entry, index) => {
    for (const [field, name] of Object.entries(namesOf(entry))) {
      const first = firstByName.get(name.toLowerCase());
      if (first !== undefined)
        throw new ListFault(`[${index}].${field}`, `is ${quoteValue(name)}, like entry [${first}]`);
      firstByName.set(name.toLowerCase(), index);
    }
  });
}

function isFault<Entry extends object>(made: Entry | EntryFault): made is EntryFault {
  return "allowed" in made;
}
