import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("the contracts are what the compiler makes of their sources", async () => {
  const script = fileURLToPath(new URL("../contracts/build.mjs", import.meta.url));
  await expect(promisify(execFile)(process.execPath, [script, "--check"])).resolves.toBeDefined();
});
