import { globalOptions } from "../parse/global-options.js";
import { operatorCommands, operatorProgram } from "../server/operator-commands.js";
import type { Command } from "./command.js";

const shells = ["bash", "zsh", "fish"] as const;

/** Needs the other commands, whose names it completes. */
export function completionCommand(others: () => readonly Command[]): Command {
  return {
    path: "completion",
    summary: "print a script that completes commands and options in a shell",
    arguments: [{ name: "shell", about: "the shell", choices: shells }],
    operations: [],
    run: async ({ io }, given) => {
      const shell = given.argument("shell") as (typeof shells)[number];
      io.out(scripts[shell](candidates(others())));
      return undefined;
    },
  };
}

/**
 * What can follow the words of a command: `""` has the first words, `tx` its second words, `tx create` its options, and
 * `tx list --state` the values of an option.
 */
type Candidates = Map<string, string[]>;

/** A shell replaces it by the names of the profiles. */
const profileNames = "$(bursar profile list 2>/dev/null | cut -f1)";

function candidates(commands: readonly Command[]): Candidates {
  const found: Candidates = new Map();
  const add = (before: string, word: string) => {
    const words = found.get(before) ?? [];
    if (!words.includes(word)) found.set(before, [...words, word]);
  };
  for (const { path, options = [], arguments: wanted = [] } of commands) {
    const words = path.split(" ");
    for (const [at, word] of words.entries()) add(words.slice(0, at).join(" "), word);
    for (const choice of wanted[0]?.choices ?? []) add(path, choice);
    for (const { name, value, choices = [] } of [...options, ...globalOptions]) {
      add(path, `--${name}`);
      if (value === undefined) continue;
      // Options are no values: without choices, nothing is offered, and the shell completes files.
      found.set(`${path} --${name}`, name === "profile" ? ["sandbox", profileNames] : [...choices]);
    }
  }
  if (operatorProgram() !== undefined)
    for (const { name, words = [] } of operatorCommands) {
      add("", name);
      for (const word of words) add(name, word);
    }
  add("", "help");
  return found;
}

const scripts = {
  bash: (
    found: Candidates,
  ) => `# bursar completion bash: put \`source <(bursar completion bash)\` into ~/.bashrc
_bursar() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${cases(found, (words) => `words="${words.join(" ")}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _bursar bursar ./bursar
`,
  zsh: (found: Candidates) => `#compdef bursar
# bursar completion zsh > "\${fpath[1]}/_bursar"
_bursar() {
  local -a candidates
  case "\${(j: :)words[2,CURRENT-1]}" in
${cases(found, (words) => `candidates=(${words.map((word) => (word === profileNames ? word : `'${word}'`)).join(" ")})`)}
  esac
  compadd -- $candidates
}
compdef _bursar bursar
`,
  fish: (found: Candidates) =>
    `# bursar completion fish > ~/.config/fish/completions/bursar.fish
function __bursar_at
  set -l words (commandline -opc)
  set -e words[1]
  test "$words" = "$argv[1]"; or string match -q -- "$argv[1] *" "$words"
end
function __bursar_value
  set -l words (commandline -opc)
  __bursar_at $argv[1]; and test "$words[-1]" = "$argv[2]"
end
${[...found]
  .filter(([, words]) => words.length > 0)
  .map(
    ([before, words]) =>
      `complete -c bursar ${fishCondition(before)} -a '${words.join(" ").replace("$(", "(")}'`,
  )
  .join("\n")}
`,
};

function fishCondition(before: string): string {
  if (before === "") return "-n 'test (count (commandline -opc)) -eq 1' -f";
  const [path = "", option] = before.split(/ (?=--)/);
  return option === undefined ? `-n '__bursar_at "${path}"'` : `-n '__bursar_value "${path}" ${option}' -f`;
}

/** An option whose value is completed stands last, after others. */
function pattern(before: string): string {
  if (before === "") return '""';
  const [path = "", option] = before.split(/ (?=--)/);
  return option === undefined ? `"${path}"|"${path} "*` : `"${path} ${option}"|"${path} "*" ${option}"`;
}

/** The longest names first, because options can stand between; \`*\` matches them. */
function cases(found: Candidates, body: (words: string[]) => string): string {
  return [...found]
    .sort(([one], [other]) => other.split(" ").length - one.split(" ").length || (one < other ? -1 : 1))
    .map(([before, words]) => `    ${pattern(before)}) ${body(words)} ;;`)
    .join("\n");
}
