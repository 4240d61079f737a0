import { readFileSync } from "node:fs";
import { type Document, parseDocument } from "yaml";
import { ConfigError } from "./config-error.js";
import { listSettings, settings } from "./settings.js";

/** What a configuration file says, before it is judged. */
export interface ConfigFile {
  path: string;
  /** The text of each single value, under its path with dots. */
  texts: Map<string, string>;
  /** What stands under the key of each list. */
  lists: Map<string, unknown>;
}

export function readConfigFile(path: string): ConfigFile {
  // Every scalar stays the text that it is: read as a number, an amount with many digits would become another amount.
  const document = parseDocument(readText(path), { schema: "failsafe" });
  const [fault] = document.errors;
  if (fault !== undefined) throw new ConfigError(`${path} is not valid YAML: ${fault.message}`);
  const file: ConfigFile = { path, texts: new Map(), lists: new Map() };
  collect(withoutAliases(document, path) ?? {}, "", file);
  for (const key of file.texts.keys()) {
    if (!Object.hasOwn(settings, key)) {
      const known = [...Object.keys(settings), ...Object.keys(listSettings)];
      throw new ConfigError(`${path} sets ${key}, which is no setting. There are: ${known.join(", ")}.`);
    }
  }
  return file;
}

/** Aliases let a small file grow without bound when it is read; no setting needs them. */
function withoutAliases(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw new ConfigError(`${path} uses aliases (&name, *name), which a configuration file must not.`, {
      cause,
    });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`BURSAR_CONFIG names ${path}, which cannot be read.`, { cause });
  }
}

function collect(value: unknown, key: string, file: ConfigFile): void {
  if (Object.hasOwn(listSettings, key)) {
    file.lists.set(key, value);
    return;
  }
  if (typeof value === "string" && key !== "") {
    file.texts.set(key, value);
    return;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new ConfigError(
      `${file.path}: ${key || "the file"} must be ${key ? "a single value" : "a mapping"}.`,
    );
  }
  for (const [name, inner] of Object.entries(value))
    collect(inner, key === "" ? name : `${key}.${name}`, file);
}
