import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fingerprint, isBuilt, recordBuild } from "./built.mjs";

describe("a recorded build", () => {
  let root: string;
  const write = (path: string, content: string) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "bursar-built-"));
    write("packages/server/src/http/api.ts", "export {}");
    write("docs/guides/running.md", "# Running");
    write("packages/domain/dist/index.js", "");
    write("packages/server/dist/bundle/program.js", "");
    write("packages/console/src/main.tsx", "export {}");
    write("packages/server/dist/console/index.html", "");
    recordBuild(root, fingerprint(root));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("is valid as long as no source changes", () => {
    write("packages/server/test/a.test.ts", "not a source");
    expect(isBuilt(root, fingerprint(root))).toBe(true);
  });

  it.each<[string, () => void]>([
    ["a source has another size", () => write("packages/server/src/http/api.ts", "export const a = 1;")],
    [
      "a source was written again",
      () => utimesSync(join(root, "packages/server/src/http/api.ts"), new Date(), new Date(1)),
    ],
    ["a source is new", () => write("packages/domain/src/new.ts", "export {}")],
    ["a source is gone", () => rmSync(join(root, "packages/server/src/http/api.ts"))],
    ["a page of the documentation has changed", () => write("docs/guides/running.md", "# Running it")],
    ["the lockfile has changed", () => write("package-lock.json", "{}")],
    ["the console is gone", () => rmSync(join(root, "packages/server/dist/console"), { recursive: true })],
    ["an output is gone", () => rmSync(join(root, "packages/domain/dist"), { recursive: true })],
  ])("is not valid if %s", (_, change) => {
    change();
    expect(isBuilt(root, fingerprint(root))).toBe(false);
  });
});
