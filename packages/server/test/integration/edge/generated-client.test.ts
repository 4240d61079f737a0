import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const sources = join(root, "tools/generated-client");

interface GeneratedClient {
  pay: (
    url: string,
    client: { clientId: string; secret: string },
  ) => Promise<{ state: string; amount: string }>;
}

/** Generates the types, compiles the client under strict TypeScript, and loads it. */
async function buildClient(folder: string): Promise<GeneratedClient> {
  const run = (file: string, args: string[]) =>
    execFileSync(process.execPath, [file, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" });
  run(join(sources, "generate-types.mjs"), [join(folder, "api.ts")]);
  copyFileSync(join(sources, "client/pay.ts"), join(folder, "pay.ts"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const options = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--skipLibCheck",
  ];
  const target = ["--target", "es2023", "--lib", "es2023,dom", "--module", "nodenext", "--types", "node"];
  run(join(root, "node_modules/typescript/bin/tsc"), ["pay.ts", "--ignoreConfig", ...options, ...target]);
  return (await import(pathToFileURL(join(folder, "pay.js")).href)) as GeneratedClient;
}

it("a client that is generated from the OpenAPI document compiles under strict TypeScript, and pays", async () => {
  // Below node_modules, where the client finds openapi-fetch.
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "generated-client-"));
  try {
    const { pay } = await buildClient(folder);
    const service = await sharedService();
    const tenant = await service.createTenant("1000");
    const transaction = await pay(service.url, tenant);
    expect(transaction).toMatchObject({ state: "completed", amount: "125.5" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
