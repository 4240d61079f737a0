import type { Io } from "./io.js";

/** Colours for one stream; without them, each function returns what it gets. */
export interface Style {
  good: (text: string) => string;
  bad: (text: string) => string;
  warn: (text: string) => string;
  dim: (text: string) => string;
  bold: (text: string) => string;
}

const codes = { good: [32, 39], bad: [31, 39], warn: [33, 39], dim: [2, 22], bold: [1, 22] } as const;

export function styleOf({ env, isTerminal }: Pick<Io, "env" | "isTerminal">, stream: "out" | "err"): Style {
  // https://no-color.org: any value that is not empty.
  const isColoured = isTerminal[stream] && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint = (name: keyof typeof codes) => (text: string) =>
    isColoured ? `\u001b[${codes[name][0]}m${text}\u001b[${codes[name][1]}m` : text;
  return {
    good: paint("good"),
    bad: paint("bad"),
    warn: paint("warn"),
    dim: paint("dim"),
    bold: paint("bold"),
  };
}

const goodStates = [
  "completed",
  "active",
  "enabled",
  "filled",
  "delivered",
  "approved",
  "applied",
  "following",
];
const badStates = ["failed", "rejected", "disabled", "exhausted", "halted", "expired"];
const quietStates = ["cancelled", "closed", "deleted"];

/** The colour of a state. */
export function paintState(state: string, style: Style): string {
  if (goodStates.includes(state)) return style.good(state);
  if (badStates.includes(state)) return style.bad(state);
  return quietStates.includes(state) ? style.dim(state) : style.warn(state);
}
