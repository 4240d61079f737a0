import { isIP } from "node:net";

/** An error in the configuration. The message names the key, the value and what is allowed; the process exits with 2. */
export class ConfigError extends Error {}

/** A setting: its sources, its allowed values, and how to parse them. */
export interface Setting<T> {
  /** Its purpose, in one sentence; shown by `bursar config` and on the reference page. */
  about: string;
  /** The environment variable that sets it; settings without one are set in the configuration file only. */
  env?: string;
  default?: T;
  /** The allowed values, as the end of the sentence "must be …". */
  allowed: string;
  /** Parses a value; undefined if it is not allowed. */
  read: (text: string) => T | undefined;
  /** Formats a value, with secrets masked. */
  show(value: T): string;
  /** Whether it is masked everywhere, also when it is refused. */
  isSecret?: true;
}

type Common<T> = Pick<Setting<T>, "about" | "env" | "default">;

export function text(common: Common<string>): Setting<string> {
  return {
    ...common,
    allowed: "a non-empty string",
    read: (value) => value || undefined,
    show: String,
  };
}

/** A string that matches a pattern. */
export function matching(common: Common<string>, pattern: RegExp, allowed: string): Setting<string> {
  return { ...common, allowed, read: (value) => (pattern.test(value) ? value : undefined), show: String };
}

export function integer(common: Common<number>, bounds: { min: number; max: number }): Setting<number> {
  return {
    ...common,
    allowed: `a whole number from ${bounds.min} to ${bounds.max}`,
    read: (value) => {
      if (!/^\d{1,15}$/.test(value)) return undefined;
      const parsed = Number(value);
      return parsed >= bounds.min && parsed <= bounds.max ? parsed : undefined;
    },
    show: String,
  };
}

/** Whole numbers, separated by commas. */
export function integers(
  common: Common<string>,
  bounds: { min: number; max: number; countMax: number },
): Setting<string> {
  const { read } = integer({ about: "" }, bounds);
  return {
    ...common,
    allowed: `one to ${bounds.countMax} whole numbers from ${bounds.min} to ${bounds.max}, separated by commas`,
    read: (value) => {
      const entries = value.split(",").map((entry) => read(entry.trim()));
      return entries.length <= bounds.countMax && !entries.includes(undefined)
        ? entries.join(",")
        : undefined;
    },
    show: String,
  };
}

export function oneOf<const T extends string>(common: Common<NoInfer<T>>, values: readonly T[]): Setting<T> {
  return {
    ...common,
    allowed: `one of ${values.join(", ")}`,
    read: (value) => values.find((candidate) => candidate === value),
    show: String,
  };
}

/** Addresses or networks in CIDR notation, separated by commas. */
export function networks(common: Common<string>): Setting<string> {
  const isNetwork = (entry: string) => {
    const [address = "", length, ...rest] = entry.split("/");
    const bitsMax = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
    const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bitsMax);
    return bitsMax > 0 && isLength && rest.length === 0;
  };
  return {
    ...common,
    allowed: "addresses or networks such as 10.0.0.7 or 10.0.1.0/28, separated by commas",
    read: (value) => {
      const entries = value.split(",").map((entry) => entry.trim());
      return entries.every(isNetwork) ? entries.join(",") : undefined;
    },
    show: String,
  };
}

/** Origins as a browser sends them, separated by commas, or an asterisk for all of them. */
export function origins(common: Common<string>): Setting<string> {
  const isOrigin = (entry: string) =>
    /^https?:\/\/[^*]+$/.test(entry) && URL.canParse(entry) && new URL(entry).origin === entry;
  return {
    ...common,
    allowed: "origins such as https://console.example, separated by commas, or *",
    read: (value) => {
      const entries = value.split(",").map((entry) => entry.trim());
      return value === "*" || entries.every(isOrigin) ? entries.join(",") : undefined;
    },
    show: String,
  };
}

export function secret(common: Common<string>): Setting<string> {
  return { ...text(common), show: () => "********", isSecret: true };
}

/** URLs of services, separated by commas. They often contain the key of an account, so they are secrets as a whole. */
export function secretUrls(common: Common<string>, countMax: number): Setting<string> {
  const { read } = url({ about: "" }, ["http:", "https:"]);
  return {
    ...secret(common),
    allowed: `one to ${countMax} different URLs that begin with http:// or https://, separated by commas`,
    read: (value) => {
      const entries = value.split(",").map((entry) => entry.trim());
      const isValid = entries.every((entry) => read(entry) !== undefined && !entry.includes("#"));
      const isBounded = entries.length <= countMax && new Set(entries).size === entries.length;
      return isValid && isBounded ? entries.join(",") : undefined;
    },
  };
}

/** The base address of a service. It is public, and paths are appended to it. */
export function baseUrl(common: Common<string>): Setting<string> {
  const any = url(common, ["http:", "https:"]);
  return {
    ...any,
    allowed: `${any.allowed}, without user, query or fragment`,
    // `@` is valid in a path too, but no base address needs it there.
    read: (value) => (/[?#@]/.test(value) ? undefined : any.read(value)),
  };
}

/** The URL of a database, which can name several hosts, as no other URL can; its parameters are checked when it is opened. */
export function databaseUrl(common: Common<string>): Setting<string> {
  const form = /^postgres(ql)?:\/\/([^/?#]*@)?[^/?#@]+/;
  return {
    ...common,
    allowed: "a URL that begins with postgres:// or postgresql:// and names a host",
    read: (value) => (form.test(value) || /[?&]host=[^&]/.test(value) ? value : undefined),
    show: (value) =>
      value
        .replace(/^([a-z]+:\/\/[^:/?#]*:)[^/?#]*@/, "$1********@")
        // libpq also allows passwords in the query: that of the role, and `sslpassword`, that of a key.
        .replace(/([?&][^=&]*=)[^&]*/g, (parameter, name: string) =>
          isPassword(name) ? `${name}********` : parameter,
        ),
  };
}

/** Names of parameters can be percent-encoded. */
function isPassword(name: string): boolean {
  try {
    return /pass/i.test(decodeURIComponent(name));
  } catch {
    return true;
  }
}

/** A URL. */
function url(common: Common<string>, protocols: readonly string[]): Setting<string> {
  return {
    ...common,
    allowed: `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")} and names a host`,
    read: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      return parsed !== undefined && protocols.includes(parsed.protocol) && parsed.hostname !== ""
        ? value
        : undefined;
    },
    show: String,
  };
}
