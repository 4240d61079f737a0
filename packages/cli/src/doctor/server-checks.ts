import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Context } from "../commands/command.js";
import { operatorProgram } from "../server/operator-commands.js";
import type { Finding } from "./finding.js";

const timeoutMs = 60_000;

/** What the server itself says about its database, migrations and master key, if it is installed beside this package. */
export async function* checkServer({ io, target }: Context): AsyncGenerator<Finding> {
  const program = operatorProgram();
  if (program === undefined) return;
  const isSandbox = await target().then(
    ({ name }) => name === "sandbox",
    () => false,
  );
  if (!isSandbox && !io.env["DATABASE_URL"]) {
    yield { check: "database", state: "skipped", found: "DATABASE_URL is not set" };
    return;
  }
  yield* await ask(fileURLToPath(program), io.env);
}

function ask(program: string, env: Context["io"]["env"]): Promise<Finding[]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "database", "check", "--json"],
      { env, timeout: timeoutMs, encoding: "utf8" },
      (_error, stdout, stderr) => {
        const findings = stdout.split("\n").flatMap(read);
        // The exit code repeats what the findings say.
        if (findings.length > 0) resolve(findings);
        else
          resolve([
            {
              check: "database",
              state: "failed",
              found: stderr.trim() || "the server's check printed nothing",
            },
          ]);
      },
    );
  });
}

function read(line: string): Finding[] {
  try {
    const { check, state, found, advice } = JSON.parse(line) as Finding;
    return [{ check, state, found, ...(advice === undefined ? {} : { advice }) }];
  } catch {
    return [];
  }
}
