/** What the command line takes from its surroundings. Tests pass their own, and need no process. */
export interface Io {
  /** Data. */
  out: (text: string) => void;
  /** Messages. */
  err: (text: string) => void;
  isTerminal: { in: boolean; out: boolean; err: boolean };
  /** The width of the terminal, in columns. */
  width: () => number;
  env: Readonly<Record<string, string | undefined>>;
  /** Asks for a line on a terminal; what is typed is not shown if it is hidden. */
  ask: (prompt: string, options: { hidden: boolean }) => Promise<string>;
  /** All of the standard input. */
  readInput: () => Promise<string>;
  /** Aborted by Ctrl-C and the like; its reason is an `Interruption`. */
  signal: AbortSignal;
  now: () => Date;
}
