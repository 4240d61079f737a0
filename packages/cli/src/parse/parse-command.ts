import { parseArgs } from "node:util";
import type { Argument, Command, Option } from "../commands/command.js";
import { CliError, usage } from "../exit-codes.js";
import { createGiven, type Given, type Values } from "./given.js";
import { globalOptions } from "./global-options.js";

/** Reads the arguments and options of a command, as its row in the table says. */
export function parseCommand(
  { path, arguments: wanted = [], options = [] }: Command,
  rest: readonly string[],
): Given {
  const { values, positionals } = read([...options, ...globalOptions], rest);
  if (values["help"] === true) return createGiven({}, values);
  const named = nameArguments(path, wanted, positionals);
  for (const option of options) checkOption(option, values);
  return createGiven(named, values);
}

function read(
  options: readonly Option[],
  args: readonly string[],
): { values: Values; positionals: string[] } {
  let parsed: { values: Values; positionals: string[]; tokens: readonly { kind: string; name?: string }[] };
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      strict: true,
      tokens: true,
      options: Object.fromEntries(
        options.map(({ name, value, many }) => [
          name,
          {
            type: value === undefined ? ("boolean" as const) : ("string" as const),
            ...(many === true ? { multiple: true } : {}),
            ...(name === "help" ? { short: "h" } : {}),
            ...(name === "yes" ? { short: "y" } : {}),
          },
        ]),
      ),
    }) as typeof parsed;
  } catch (cause) {
    // Node's own sentence names the option.
    const [sentence = ""] = (cause as Error).message.split(/\.\s/);
    const hint =
      (cause as NodeJS.ErrnoException).code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE"
        ? " A value that begins with a hyphen is written as --option=-value."
        : "";
    throw new CliError(`${sentence.replace(/\.$/, "")}.${hint}`, "usage", { cause });
  }
  refuseRepeated(options, parsed.tokens);
  return parsed;
}

/** Which of two values was meant cannot be known. */
function refuseRepeated(
  options: readonly Option[],
  tokens: readonly { kind: string; name?: string }[],
): void {
  const single = options.filter(({ value, many }) => value !== undefined && many !== true);
  for (const { name } of single)
    if (tokens.filter((token) => token.kind === "option" && token.name === name).length > 1)
      throw usage(`--${name} is given twice.`);
}

function checkOption({ name, required, choices }: Option, values: Values): void {
  const value = values[name];
  if (value === undefined) {
    if (required === true) throw usage(`--${name} is missing.`);
    return;
  }
  const all = Array.isArray(value) ? value : [value];
  const unknown = choices === undefined ? undefined : all.find((one) => !choices.includes(String(one)));
  if (unknown !== undefined) throw usage(`--${name} must be one of ${choices?.join(", ")}.`);
}

function nameArguments(
  path: string,
  wanted: readonly Argument[],
  positionals: readonly string[],
): Record<string, string[]> {
  const left = [...positionals];
  const named: Record<string, string[]> = {};
  for (const { name, optional, many, choices } of wanted) {
    const taken = left.splice(0, many === true ? left.length : 1);
    if (taken.length === 0 && optional !== true) throw usage(`bursar ${path} needs <${name}>.`);
    const unknown = choices === undefined ? undefined : taken.find((value) => !choices.includes(value));
    if (unknown !== undefined) throw usage(`<${name}> must be one of ${choices?.join(", ")}.`);
    named[name] = taken;
  }
  if (left.length > 0) throw usage(`bursar ${path} takes no argument "${left[0]}".`);
  return named;
}
