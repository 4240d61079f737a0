import type { ListSetting } from "./list-setting.js";
import type { Config } from "./load-config.js";
import type { Setting } from "./setting.js";
import { type ListKey, listSettings, type SettingKey, settings } from "./settings.js";

/**
 * Formats the effective configuration: one line per setting with its value, secrets masked, and its source; then each list, in the
 * syntax of the file.
 */
export function describeConfig(config: Config): string {
  const rows = (Object.entries(settings) as [SettingKey, Setting<string | number>][]).map(
    ([key, setting]) => {
      const value = config.values[key];
      return {
        key,
        value: value === undefined ? "(not set)" : setting.show(value),
        source: config.sources[key] ?? `set it with ${setting.env ?? "the configuration file"}`,
      };
    },
  );
  const keyWidth = Math.max(...rows.map((row) => row.key.length));
  const valueWidth = Math.max(...rows.map((row) => row.value.length));
  const lines = rows.map(
    (row) => `${row.key.padEnd(keyWidth)}  ${row.value.padEnd(valueWidth)}  # ${row.source}`,
  );
  const lists = Object.keys(listSettings).flatMap((key) => describeList(config, key as ListKey));
  return [...lines, ...lists].join("\n");
}

function describeList(config: Config, key: ListKey): string[] {
  const setting: ListSetting<(typeof config.values)[ListKey][number]> = listSettings[key];
  return [
    `${key}:  # ${config.sources[key]}`,
    ...config.values[key].map((entry) => `  - ${showEntry(setting.show(entry))}`),
  ];
}

/** An entry on one line of YAML. */
export function showEntry(fields: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${pairs.join(", ")} }`;
}
