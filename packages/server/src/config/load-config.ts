import { readFileSync } from "node:fs";
import { type Document, parseDocument } from "yaml";
import { ListFault, type ListSetting } from "./list-setting.js";
import { ConfigError, type Setting } from "./setting.js";
import { type ListKey, listSettings, type SettingKey, type Settings, settings } from "./settings.js";

/** Where a value comes from, as a person would say it: `environment PORT`, `file bursar.yaml`, `default`. */
type Source = string;

export interface Config {
  readonly values: Settings;
  readonly sources: Readonly<Partial<Record<SettingKey | ListKey, Source>>>;
}

/** A value, and where it comes from; undefined where there is neither a value nor a default. */
type Found = { value: unknown; source: Source } | undefined;

/** The environment wins over the file that `BURSAR_CONFIG` names, the file over the defaults. A command can have its own. */
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
    take(key, findList(key, setting, file));
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
      throw new ConfigError(`${key} (${source}) is ${quote(written)}: it must be ${setting.allowed}.`);
    return { value, source };
  };
  // Both, so that a wrong line of the file is found before the day on which the environment no longer hides it.
  const fromFile = read(file.texts.get(key), `file ${file.path}`);
  const fromEnv = read(
    setting.env === undefined ? undefined : env[setting.env] || undefined,
    `environment ${setting.env}`,
  );
  return fromEnv ?? fromFile ?? (fallback === undefined ? undefined : { value: fallback, source: "default" });
}

function findList<Entry>(key: string, setting: ListSetting<Entry>, file: ConfigFile): Found {
  const written = file.lists.get(key);
  if (written === undefined) return { value: setting.default, source: "default" };
  const source = `file ${file.path}`;
  try {
    return { value: setting.read(written), source };
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    throw new ConfigError(`${key}${error.place} (${source}) ${error.message}.`, { cause: error });
  }
}

/** A long value is cut, so that a pasted file does not fill the screen, and a password in a URL is masked. */
function quote(value: string): string {
  const masked = value.replace(/(:\/\/[^:/@]*:)[^@]*@/, "$1********@");
  return JSON.stringify(masked.length > 80 ? `${masked.slice(0, 80)}…` : masked);
}

/** What a configuration file says, before it is judged. */
interface ConfigFile {
  path: string;
  /** The text of each single value, under its path with dots. */
  texts: Map<string, string>;
  /** What stands under the key of each list. */
  lists: Map<string, unknown>;
}

function readConfigFile(path: string): ConfigFile {
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
