import { readFileSync } from "node:fs";
import { type Document, parseDocument } from "yaml";
import { ListFault, type ListSetting } from "./list-setting.js";
import { quoteValue } from "./quote-value.js";
import { ConfigError, type Setting } from "./setting.js";
import { type ListKey, listSettings, type SettingKey, type Settings, settings } from "./settings.js";

/** The source of a value: `environment PORT`, `file bursar.yaml`, `default`. */
type Source = string;

export interface Config {
  readonly values: Settings;
  readonly sources: Readonly<Partial<Record<SettingKey | ListKey, Source>>>;
}

/** A value and its source; undefined if there is neither a value nor a default. */
type Found = { value: unknown; source: Source } | undefined;

/** The environment takes precedence over the file that `BURSAR_CONFIG` names, and the file over the defaults. A command can have its own defaults. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  ownDefaults: Partial<Settings> = {},
): Config {
  const filePath = env["BURSAR_CONFIG"] || undefined;
  const file: ConfigFile =
    filePath === undefined ? { path: "", texts: new Map(), lists: new Map() } : readConfigFile(filePath);
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const take = (key: string, found: Found) => {
    if (found === undefined) return;
    values[key] = found.value;
    sources[key] = found.source;
  };
  for (const [key, setting] of Object.entries(settings)) {
    const fallback = ownDefaults[key as SettingKey] ?? setting.default;
    take(key, findValue(key, setting, fallback, env, file));
  }
  for (const [key, setting] of Object.entries<ListSetting<object>>(listSettings))
    take(key, findList(key, setting, ownDefaults[key as ListKey] ?? setting.default, file));
  return { values: values as unknown as Settings, sources };
}

function findValue(
  key: string,
  setting: Setting<string> | Setting<number>,
  fallback: string | number | undefined,
  env: Readonly<Record<string, string | undefined>>,
  file: ConfigFile,
): Found {
  const read = (written: string | undefined, source: Source): Found => {
    if (written === undefined) return undefined;
    const value = setting.read(written);
    if (value === undefined)
      throw new ConfigError(
        `${key} (${source}) is ${setting.isSecret === true ? "not valid" : quoteValue(written)}: it must be ${setting.allowed}.`,
      );
    return { value, source };
  };
  // Both are read, so that an invalid line of the file is reported even if the environment overrides it.
  const fromFile = read(file.texts.get(key), `file ${file.path}`);
  const fromEnv = read(
    setting.env === undefined ? undefined : env[setting.env] || undefined,
    `environment ${setting.env}`,
  );
  return fromEnv ?? fromFile ?? (fallback === undefined ? undefined : { value: fallback, source: "default" });
}

function findList<Entry>(
  key: string,
  setting: ListSetting<Entry>,
  fallback: readonly Entry[],
  file: ConfigFile,
): Found {
  const written = file.lists.get(key);
  if (written === undefined) return { value: fallback, source: "default" };
  const source = `file ${file.path}`;
  try {
    return { value: setting.read(written), source };
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    throw new ConfigError(`${key}${error.place} (${source}) ${error.message}.`, { cause: error });
  }
}

/** The content of a configuration file, before it is validated. */
interface ConfigFile {
  path: string;
  /** The string of each single value, under its path with dots. */
  texts: Map<string, string>;
  /** The value under the key of each list. */
  lists: Map<string, unknown>;
}

/** The lines after the first one show a part of the file, which may be a secret. */
function withoutExcerpt(message: string): string {
  return message.split("\n", 1)[0]?.replace(/:$/, ".") ?? "";
}

function readConfigFile(path: string): ConfigFile {
  // Every scalar stays a string: as a number, an amount with many digits would lose some of them.
  const document = parseDocument(readText(path), { schema: "failsafe" });
  const [fault] = document.errors;
  if (fault !== undefined)
    throw new ConfigError(`${path} is not valid YAML: ${withoutExcerpt(fault.message)}`);
  const file: ConfigFile = { path, texts: new Map(), lists: new Map() };
  collect(withoutAliases(document, path) ?? {}, "", file);
  for (const key of file.texts.keys()) {
    if (!Object.hasOwn(settings, key)) {
      const known = [...Object.keys(settings), ...Object.keys(listSettings)];
      throw new ConfigError(`${path} sets the unknown setting ${key}. The settings are ${known.join(", ")}.`);
    }
  }
  return file;
}

/** Aliases let a small file expand without bound; no setting needs them. */
function withoutAliases(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw new ConfigError(`${path} uses YAML aliases (&name, *name), which are not allowed.`, {
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
