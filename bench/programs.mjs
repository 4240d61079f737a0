// The programs that make load and serve as yardsticks.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram, installMissing } from "../tools/debian-programs.mjs";

const execute = promisify(execFile);

/** @param {"wrk" | "postgresql-15"} packageName @returns {string} the path of its program */
function provideProgram(packageName) {
  installMissing([packageName]);
  const path = findProgram(packageName);
  if (path !== undefined) return path;
  console.error(`bench: a program is missing; install Debian's ${packageName}`);
  process.exit(1);
}

/**
 * @typedef {object} LoadOptions
 * @property {string} url
 * @property {string} script Lua that makes the requests
 * @property {number} seconds
 * @property {number} [connections]
 * @property {Readonly<Record<string, string>>} env variables for the script
 */

/** Fails if a request is answered with an error. @param {LoadOptions} options @returns {Promise<import("./measure.mjs").Measured & { operations: number }>} */
export async function runWrk({ url, script, seconds, connections = 64, env }) {
  const args = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "-s", script, url];
  const { stdout: output } = await execute(provideProgram("wrk"), args, { env: { ...process.env, ...env } });
  const wrong = /Non-2xx or 3xx responses: (\d+)/.exec(output);
  if (wrong !== null) throw new Error(`${wrong[1]} requests to ${url} were refused:\n${output}`);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    operations: Number(/(\d+) requests in/.exec(output)?.[1]),
  };
}

/** @param {string} databaseUrl @param {string[]} args @param {number} seconds @returns {Promise<import("./measure.mjs").Measured>} */
export async function runPgbench(databaseUrl, args, seconds) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const connection = ["-h", hostname, "-p", port, "-U", username];
  const { stdout: output } = await execute(
    provideProgram("postgresql-15"),
    [
      ...connection,
      "-n",
      "-M",
      "prepared",
      "-c",
      "32",
      "-j",
      "1",
      "-T",
      String(seconds),
      ...args,
      pathname.slice(1),
    ],
    { env: { ...process.env, PGPASSWORD: password } },
  );
  return {
    perSecond: Number(/tps = ([\d.]+)/.exec(output)?.[1]),
    operations: Number(/actually processed: (\d+)/.exec(output)?.[1]),
  };
}

/** @param {string} databaseUrl @param {number} scale */
export async function initialisePgbench(databaseUrl, scale) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  await execute(
    provideProgram("postgresql-15"),
    ["-h", hostname, "-p", port, "-U", username, "-i", "-q", "-s", String(scale), pathname.slice(1)],
    { env: { ...process.env, PGPASSWORD: password } },
  );
}
