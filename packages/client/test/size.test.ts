import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What a program that is bundled for browsers grows by, in bytes as they are transferred. */
async function sizeOf(source: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    alias: { "@bursar/client": fileURLToPath(new URL("../src/index.ts", import.meta.url)) },
  });
  return gzipSync(outputFiles[0]?.contents ?? "").length;
}

describe("the size of the client", () => {
  it("is at most 25 kB as a whole", async () => {
    expect(await sizeOf('export * from "@bursar/client";')).toBeLessThan(25_000);
  });

  it("is at most 10 kB for transactions alone", async () => {
    const source = `import { createTransactions, createTransport } from "@bursar/client";
      export const pay = (options) => createTransactions(createTransport(options));`;
    expect(await sizeOf(source)).toBeLessThan(10_000);
  });
});
