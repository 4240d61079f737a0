// `npm run tour`: shows the whole story against the sandbox that runs from this folder, or against one that it starts for the tour.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import "../prepare.mjs";

const program = fileURLToPath(new URL("../../packages/cli/bin/bursar.mjs", import.meta.url));
const isRunning = (await run(["api", "GET", "/v1/me"], {}, "ignore")) === 0;
process.exitCode = isRunning ? await run(["tour"], {}, "inherit") : await withOwnSandbox();

async function withOwnSandbox() {
  const folder = mkdtempSync(join(tmpdir(), "bursar-tour-"));
  const env = { BURSAR_DATA_DIR: folder, PORT: "0", BURSAR_SANDBOX_CHAIN: "off", LOG_LEVEL: "warn" };
  console.log("bursar: no sandbox is running in this folder, so one is started for the tour");
  const sandbox = spawn(process.execPath, [program, "dev"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => sandbox.once("exit", resolve));
  try {
    await Promise.race([
      new Promise((resolve) => {
        let output = "";
        sandbox.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
          output += chunk;
          if (output.includes("is ready.")) resolve(undefined);
        });
      }),
      ended,
    ]);
    return await run(["tour"], env, "inherit");
  } finally {
    sandbox.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string[]} args @param {Record<string, string>} env @param {"ignore" | "inherit"} stdio @returns {Promise<number>} the exit code */
function run(args, env, stdio) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env }, stdio });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
