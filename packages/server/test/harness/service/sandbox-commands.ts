import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Bursar, createBursar, isBursarError } from "@bursar/client";
import { afterAll, beforeAll } from "vitest";
import { createTemporaryFolder } from "../temporary-folder.js";
import { type BursarProcess, runBursar, spawnBursar } from "./bursar-process.js";

/** A sandbox for the tests of a file, and the commands that run beside it. */
export function startSandboxForFile(name: string, env: Record<string, string> = {}) {
  const dataDir = join(createTemporaryFolder(name), "data");
  let sandbox: BursarProcess;
  let url: string;
  beforeAll(async () => {
    sandbox = spawnBursar({ args: ["dev"], env: { BURSAR_DATA_DIR: dataDir, ...env } });
    url = await sandbox.ready();
    await sandbox.waitFor(/Ctrl-C stops/);
  });
  afterAll(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    rmSync(join(dataDir, ".."), { recursive: true });
  });

  /** A client with a token as a command has printed it. A call is one attempt. */
  const bursarOf = (token: string): Bursar =>
    createBursar({ baseUrl: url, credentials: () => token.trim(), retriesMax: 0 });
  return {
    dataDir,
    url: () => url,
    bursarOf,
    /** Everything that the sandbox has written so far. */
    output: () => sandbox.output(),
    run: (args: string[], more: Record<string, string> = {}) =>
      runBursar(args, { BURSAR_DATA_DIR: dataDir, ...more }),
    /** What a command has printed after a name. */
    fieldOf: (output: string, field: string) => new RegExp(`^${field} +(\\S+)$`, "m").exec(output)?.[1] ?? "",
    /** The status of a request with this token. */
    statusOf: async (token: string): Promise<number | undefined> => {
      try {
        return (await bursarOf(token).clients.list().page()).lastResponse.status;
      } catch (error) {
        if (!isBursarError(error)) throw error;
        return error.status;
      }
    },
  };
}
