import type { Argument, Command, Option } from "../commands/command.js";
import { exitCodes } from "../exit-codes.js";
import { globalOptions } from "../parse/global-options.js";

/** A command of the server, which has its own help. */
export interface ListedCommand {
  name: string;
  summary: string;
}

/** All commands, or those of a group. */
export function overview(commands: readonly Command[], operator: readonly ListedCommand[]): string {
  const rows = commands.map(({ path, summary, arguments: wanted = [] }): [string, string] => [
    [path, ...wanted.map(shown)].join(" "),
    summary,
  ]);
  const ofOperator = operator.map(({ name, summary }): [string, string] => [name, summary]);
  const parts = [
    "Usage: bursar <command> [options]\n",
    `Commands:\n${columns(rows)}`,
    ...(operator.length === 0
      ? []
      : [`Commands of the operator, which use the database of the service:\n${columns(ofOperator)}`]),
    ...(commands.length < 20 ? [] : [`Options of every command:\n${columns(globalOptions.map(optionRow))}`]),
    ...(commands.length < 20 ? [] : [exitCodesPage()]),
    "`bursar <command> --help` shows the options of a command.\n",
  ];
  return parts.join("\n");
}

export function exitCodesPage(): string {
  return `Exit codes:\n${columns(exitRows())}`;
}

export function helpOf({ path, summary, arguments: wanted = [], options = [], movesMoney }: Command): string {
  const parts = [
    `Usage: bursar ${[path, ...wanted.map(shown)].join(" ")}${options.length === 0 ? "" : " [options]"}\n`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.${movesMoney === true ? " On a terminal it asks first." : ""}\n`,
    ...(wanted.length === 0
      ? []
      : [`Arguments:\n${columns(wanted.map((one): [string, string] => [shown(one), withChoices(one)]))}`]),
    ...(options.length === 0 ? [] : [`Options:\n${columns(options.map(optionRow))}`]),
    `Options of every command:\n${columns(globalOptions.map(optionRow))}`,
  ];
  return parts.join("\n");
}

/** An argument as the usage shows it. */
export function shown({ name, optional, many }: Argument): string {
  const word = many === true ? `${name}...` : name;
  return optional === true ? `[${word}]` : `<${word}>`;
}

export function optionRow(option: Option): [string, string] {
  const { name, value, required, many } = option;
  const short = name === "help" ? "-h, " : name === "yes" ? "-y, " : "";
  const about = [
    withChoices(option),
    ...(many === true ? ["can be repeated"] : []),
    ...(required === true ? ["required"] : []),
  ];
  return [`${short}--${name}${value === undefined ? "" : ` <${value}>`}`, about.join("; ")];
}

function withChoices({ about, choices }: Pick<Option, "about" | "choices">): string {
  return choices === undefined ? about : `${about}: ${choices.join(", ")}`;
}

export function exitRows(): [string, string][] {
  return Object.values(exitCodes).map(({ code, means }) => [`${code}`, means]);
}

function columns(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`).join("");
}
