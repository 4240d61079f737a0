// The reference page of the settings, and a configuration file that says all of them with their defaults.
import { showEntry } from "../packages/server/dist/config/describe-config.js";
import { listSettings, settings } from "../packages/server/dist/config/settings.js";

/** @typedef {import("../packages/server/dist/config/list-setting.js").ListSetting<object>} AnyList */

/** @type {Record<string, AnyList>} */
const lists = listSettings;

export function configurationPage() {
  const rows = Object.entries(settings).map(([key, setting]) => {
    const fallback = setting.default === undefined ? "" : `\`${setting.default}\``;
    return `| \`${key}\` | ${setting.env === undefined ? "" : `\`${setting.env}\``} | ${fallback} | ${setting.about} It must be ${setting.allowed}. |`;
  });
  return `# Configuration

<!-- Generated from packages/server/src/config/settings.ts by \`npm run generate\`. -->

A setting comes from the environment, else from the YAML file that \`BURSAR_CONFIG\` names, else from its default. In the file a dot in a key is a level:

\`\`\`yaml
port: 9000
limits:
  body_bytes: 131072
assets:
  - { code: EUR, decimals: 2, network: book, minimum: "0.01", maximum: "1000000" }
\`\`\`

\`npx bursar config\` prints the effective configuration, with secrets masked, and where each value comes from. A value that is not allowed, or a key that does not exist, ends the start with exit code 2 and a sentence that names it. [bursar.example.yaml](bursar.example.yaml) has every setting with its default, to begin from.

| key | environment | default | |
|---|---|---|---|
${rows.join("\n")}

## Lists

A list stands in the file only. What is written there replaces the default as a whole, and every entry is checked: a field that is missing, unknown or not allowed, or a name that two entries share, ends the start like any other wrong value, and is named as in \`assets[2].decimals\`.
${Object.entries(lists).map(describeList).join("")}`;
}

/** @param {[string, AnyList]} row */
function describeList([key, setting]) {
  const fields = Object.entries(setting.fields).map(
    ([name, field]) =>
      `| \`${name}\` | ${field.default === undefined ? "required" : "optional"} | ${field.about} It must be ${field.allowed}. |`,
  );
  const entries = setting.default.map((entry) => `  - ${showEntry(setting.show(entry))}`);
  return `
### \`${key}\`

${setting.about} Up to ${setting.entriesMax} entries, with these fields:

| field | | |
|---|---|---|
${fields.join("\n")}

The default:

\`\`\`yaml
${key}:
${entries.join("\n")}
\`\`\`
`;
}

/** Every line that sets something is a comment, so that the file as it is changes nothing. */
export function exampleConfiguration() {
  const all = Object.entries(settings);
  const groups = new Set(all.flatMap(([key]) => (key.includes(".") ? [key.slice(0, key.indexOf("."))] : [])));
  return [
    "# A configuration file for BURSAR_CONFIG: every setting with its default. Take away the # before what you change, and before",
    "# the key that it is indented under. Made by `npm run generate`.",
    ...all
      .filter(([key]) => !key.includes("."))
      .flatMap(([key, setting]) => describeSetting(key, setting, "")),
    ...[...groups].flatMap((group) => [
      "",
      `#${group}:`,
      ...all
        .filter(([key]) => key.startsWith(`${group}.`))
        .flatMap(([key, setting]) => describeSetting(key.slice(group.length + 1), setting, "  ")),
    ]),
    ...Object.entries(lists).flatMap(([key, setting]) => [
      "",
      `# ${setting.about}`,
      `#${key}:`,
      ...setting.default.map((entry) => `#  - ${showEntry(setting.show(entry))}`),
    ]),
    "",
  ].join("\n");
}

/** @param {string} name @param {(typeof settings)[keyof typeof settings]} setting @param {string} indent */
function describeSetting(name, setting, indent) {
  const environment = setting.env === undefined ? "" : ` Environment: ${setting.env}.`;
  return [
    "",
    `${indent}# ${setting.about} It must be ${setting.allowed}.${environment}`,
    `#${indent}${name}: ${setting.default ?? ""}`.trimEnd(),
  ];
}
