import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { freePort } from "../../src/embedded/free-port.js";
import { eventually } from "../harness/eventually.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

it("npm start ends the service and its PostgreSQL when npm gets SIGTERM", async () => {
  const folder = createTemporaryFolder("npm-start");
  const dataDir = join(folder, "data");
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { PATH: process.env["PATH"], BURSAR_DATA_DIR: dataDir, PORT: new URL(url).port };
  const npm = spawn("npm", ["start"], { cwd: root, env, stdio: "ignore" });
  const ended = new Promise((resolve) => npm.once("exit", resolve));
  const status = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status;
  const postmaster = join(dataDir, "postgres/postmaster.pid");
  try {
    await eventually(status, (answer) => answer === 200, 180_000);
    expect(existsSync(postmaster)).toBe(true);
  } finally {
    npm.kill("SIGTERM");
    await ended;
  }
  // npm can end a moment before the service that it has told to stop.
  await eventually(status, (answer) => answer === undefined);
  await eventually(
    () => existsSync(postmaster),
    (isThere) => !isThere,
  );
  rmSync(folder, { recursive: true });
});
