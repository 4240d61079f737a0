import type { Config } from "./load-config.js";
import type { Setting } from "./setting.js";
import { type SettingKey, settings } from "./settings.js";

/** The effective configuration, one line a setting: its value with secrets masked, and where it comes from. */
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
  return rows
    .map((row) => `${row.key.padEnd(keyWidth)}  ${row.value.padEnd(valueWidth)}  # ${row.source}`)
    .join("\n");
}
