import type { Command } from "../commands/command.js";
import { commands } from "../commands/table.js";
import { globalOptions } from "../parse/global-options.js";
import { operatorCommands } from "../server/operator-commands.js";
import { titleOf } from "../terminal/columns.js";
import { exitRows, optionRow, shown } from "./help.js";

/** The reference of the command line, `docs/reference/commands.md`. */
export function commandsPage(): string {
  return `# Commands

<!-- Generated from packages/cli/src/commands by \`npm run generate\`. -->

[The package's README](../../packages/cli/README.md) shows how to use them. In a pipe, a list has the columns below, with tabs between them.

${commands.map(section).join("\n")}
## Commands of the operator

They use the database of the service and run where the server is installed; \`bursar <command> --help\` shows their options.

| command | |
|---|---|
${operatorCommands.map(({ name, summary, words }) => `| \`${[name, ...(words === undefined ? [] : [words.join("|")])].join(" ").replaceAll("|", "\\|")}\` | ${summary} |`).join("\n")}

## Options of every command

${table(globalOptions.map(optionRow))}

## Exit codes

| code | |
|---|---|
${exitRows()
  .map(([code, means]) => `| ${code} | ${means} |`)
  .join("\n")}
`;
}

function section({
  path,
  summary,
  arguments: wanted = [],
  options = [],
  operations,
  columns,
  movesMoney,
}: Command): string {
  const usage = ["bursar", path, ...wanted.map(shown)].join(" ");
  const parts = [
    `## ${path}`,
    `\`${usage}\``,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.${movesMoney === true ? " On a terminal it asks first." : ""}`,
    ...(options.length === 0 ? [] : [table(options.map(optionRow))]),
    ...(columns === undefined
      ? []
      : [`Columns: ${columns.map((column) => `\`${titleOf(column)}\``).join(", ")}.`]),
    ...(operations.length === 0
      ? []
      : [`Requests: ${operations.map((operation) => `\`${operation}\``).join(", ")}.`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function table(rows: readonly [string, string][]): string {
  const lines = rows.map(
    ([name, about]) => `| \`${name.replaceAll("|", "\\|")}\` | ${about.replaceAll("|", "\\|")} |`,
  );
  return ["| option | |", "|---|---|", ...lines].join("\n");
}
