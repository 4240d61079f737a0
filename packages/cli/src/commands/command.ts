import type { Bursar, Operations, Transport } from "@bursar/client";
import type { Given } from "../parse/given.js";
import type { Target } from "../profiles/target.js";
import type { Column } from "../terminal/columns.js";
import type { Io } from "../terminal/io.js";
import type { Output } from "../terminal/output.js";

/** Help, completion, the reference and the parser all come from the table of commands, whose rows are these. */
export interface Command {
  /** Its words, such as `tx create`. */
  path: string;
  summary: string;
  arguments?: readonly Argument[];
  options?: readonly Option[];
  /** The operations of the API that it sends. */
  operations: readonly (keyof Operations)[];
  /** Whether it changes something, so that its outcome can be unknown. */
  changes?: true;
  /** Whether it runs until Ctrl-C, so that it outlives a service that is restarted. */
  watches?: true;
  /** Whether it moves money or decides where money may go, so that it asks first on a terminal. */
  movesMoney?: true;
  /** The columns of what it lists. */
  columns?: readonly Column[];
  /** Returns the exit code, if it is not 0. */
  run: (context: Context, given: Given) => Promise<number | undefined>;
}

/** A command with the option `--watch` watches only if that is given. */
export function isWatching({ watches, options }: Command, given: Given): boolean {
  const isOption = options?.some(({ name }) => name === "watch") === true;
  return watches === true && (!isOption || given.flag("watch"));
}

export interface Argument {
  name: string;
  about: string;
  optional?: true;
  many?: true;
  choices?: readonly string[];
}

export interface Option {
  name: string;
  /** What its value is, such as `amount`; a switch has none. */
  value?: string;
  about: string;
  many?: true;
  required?: true;
  choices?: readonly string[];
}

/** What a command works with. */
export interface Context {
  io: Io;
  output: Output;
  /** The service and the credentials, as the profile says. */
  target: () => Promise<Target>;
  /** Ctrl-C ends all its calls. */
  bursar: () => Promise<Bursar>;
  /** For what has to be put back after Ctrl-C, within some seconds. */
  bursarForCleanup: () => Promise<Bursar>;
  /** Sends any operation. */
  transport: () => Promise<Transport>;
  /** A message for people, on the error stream. */
  note: (text: string) => void;
  /** Asks on a terminal, unless `--yes` is given. Fails if the answer is not yes. */
  confirm: (question: string) => Promise<void>;
}
