import { readFileSync } from "node:fs";
import { type Document, parseDocument } from "yaml";
import type { Setting } from "./setting.js";
import { type SettingKey, type Settings, settings } from "./settings.js";

/** Where a value comes from, as a person would say it: `environment PORT`, `file bursar.yaml`, `default`. */
type Source = string;

export interface Config {
  readonly values: Settings;
  readonly sources: Readonly<Partial<Record<SettingKey, Source>>>;
}

/** What the operator wrote is wrong. The message names the key, the value and what is allowed; the process exits with 2. */
export class ConfigError extends Error {}

/** The environment wins over the file that `BURSAR_CONFIG` names, the file over the defaults. A command can have its own. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  ownDefaults: Partial<Settings> = {},
): Config {
  const filePath = env["BURSAR_CONFIG"] || undefined;
  const fileValues = filePath === undefined ? new Map<string, string>() : readConfigFile(filePath);
  const values: Partial<Record<SettingKey, string | number>> = {};
  const sources: Partial<Record<SettingKey, Source>> = {};

  for (const [key, setting] of Object.entries(settings) as [SettingKey, Setting<string | number>][]) {
    const fromEnv = setting.env === undefined ? undefined : env[setting.env] || undefined;
    const written = fromEnv ?? fileValues.get(key);
    if (written === undefined) {
      const fallback = ownDefaults[key] ?? setting.default;
      if (fallback === undefined) continue;
      values[key] = fallback;
      sources[key] = "default";
      continue;
    }
    const source = fromEnv === undefined ? `file ${filePath}` : `environment ${setting.env}`;
    const value = setting.read(written);
    if (value === undefined) {
      throw new ConfigError(`${key} (${source}) is ${quote(written)}: it must be ${setting.allowed}.`);
    }
    values[key] = value;
    sources[key] = source;
  }
  return { values: values as Settings, sources };
}

function readConfigFile(path: string): Map<string, string> {
  const document = parseDocument(readText(path));
  const [fault] = document.errors;
  if (fault !== undefined) throw new ConfigError(`${path} is not valid YAML: ${fault.message}`);
  const content = withoutAliases(document, path);
  const flat = new Map<string, string>();
  flatten(content ?? {}, "", path, flat);
  for (const key of flat.keys()) {
    if (!Object.hasOwn(settings, key)) {
      throw new ConfigError(
        `${path} sets ${key}, which is no setting. There are: ${Object.keys(settings).join(", ")}.`,
      );
    }
  }
  return flat;
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

function flatten(value: unknown, prefix: string, path: string, into: Map<string, string>): void {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    into.set(prefix, String(value));
    return;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new ConfigError(
      `${path}: ${prefix || "the file"} must be ${prefix ? "a single value" : "a mapping"}.`,
    );
  }
  for (const [key, inner] of Object.entries(value)) {
    flatten(inner, prefix === "" ? key : `${prefix}.${key}`, path, into);
  }
}

/** A long value is cut, so that a pasted file does not fill the screen, and a password in a URL is masked. */
function quote(value: string): string {
  const masked = value.replace(/(:\/\/[^:/@]*:)[^@]*@/, "$1********@");
  return JSON.stringify(masked.length > 80 ? `${masked.slice(0, 80)}…` : masked);
}
