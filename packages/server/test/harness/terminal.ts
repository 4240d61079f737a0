import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { eventually } from "./eventually.js";

export interface Terminal {
  /** Runs commands and returns what they print; what an earlier block has set is still set. */
  type: (block: string) => Promise<string>;
  /** Everything printed so far, also by programs in the background. */
  output: () => string;
  close: () => void;
}

/** A shell that stays open, like the terminal of a person who follows a guide from its beginning to its end. */
export function openTerminal(cwd: string, env: Record<string, string | undefined>): Terminal {
  // A group of its own, so that programs in the background end with it.
  const child = spawn("sh", [], { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  return {
    type: async (block) => {
      const end = `end of ${randomUUID()}`;
      const from = output.length;
      child.stdin.write(`${block}\necho "${end}"\n`);
      await eventually(
        () => output.includes(end, from),
        (isDone) => isDone,
      );
      return output.slice(from, output.indexOf(end, from));
    },
    output: () => output,
    close: () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    },
  };
}
