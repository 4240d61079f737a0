import { usage } from "../exit-codes.js";

/** The arguments and options of a command, as they were given and checked. */
export interface Given {
  /** The value of an argument that is required. */
  argument: (name: string) => string;
  /** The values of an argument that can be left out or repeated. */
  all: (name: string) => string[];
  text: (option: string) => string | undefined;
  /** The same for an option that is required. */
  required: (option: string) => string;
  list: (option: string) => string[];
  flag: (option: string) => boolean;
  /** A whole number. */
  number: (option: string, range: { min: number; max: number }) => number | undefined;
}

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export function createGiven(positionals: Readonly<Record<string, readonly string[]>>, values: Values): Given {
  const text = (option: string) => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  return {
    argument: (name) => positionals[name]?.[0] ?? "",
    all: (name) => [...(positionals[name] ?? [])],
    text,
    required: (option) => text(option) ?? "",
    list: (option) => {
      const value = values[option];
      return Array.isArray(value) ? [...value] : [];
    },
    flag: (option) => values[option] === true,
    number: (option, { min, max }) => {
      const value = text(option);
      if (value === undefined) return undefined;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      throw usage(`--${option} must be a whole number from ${min} to ${max}.`);
    },
  };
}
