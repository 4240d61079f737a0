import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root as checkout } from "./files.mjs";
import { explainMissing, missingPackages } from "./installed.mjs";

const here = { os: [process.platform], cpu: [process.arch] };
const wanted = {
  "": { name: "x" },
  "packages/y": { version: "1.0.0" },
  "node_modules/plain": { version: "1.2.3", integrity: "sha512-a" },
  "node_modules/native": { version: "1.0.0", integrity: "sha512-n", optional: true, ...here },
  "node_modules/elsewhere": { version: "1.0.0", optional: true, os: ["sunos"], cpu: ["x64"] },
};
const { "node_modules/plain": plain, "node_modules/native": native } = wanted;

describe("an installation", () => {
  let root: string;
  const install = (packages: Record<string, object>, folders = Object.keys(packages)) => {
    for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "node_modules/.package-lock.json"), JSON.stringify({ packages }));
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "bursar-installed-"));
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: wanted }));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("that npm made by hand is complete", () => {
    install({ "node_modules/plain": plain, "node_modules/native": native });
    expect(missingPackages(root)).toEqual([]);
    expect(missingPackages(checkout)).toEqual([]);
  });

  it("that was never made lacks everything for this platform", () => {
    const missing = missingPackages(root);
    expect(missing).toEqual(["node_modules/plain", "node_modules/native"]);
    expect(explainMissing(root, missing)).toBe("the last installation was not completed");
    install({});
    expect(explainMissing(root, missing)).toBe("2 packages differ from the lockfile");
  });

  it.each([
    ["has another version", { ...plain, version: "1.2.4" }],
    ["has other contents", { ...plain, integrity: "sha512-b" }],
  ])("that %s is not complete", (_, other) => {
    install({ "node_modules/plain": other, "node_modules/native": native });
    expect(missingPackages(root)).toEqual(["node_modules/plain"]);
  });

  it("that lost the package of its platform, or a folder, is not complete", () => {
    install({ "node_modules/plain": plain });
    expect(missingPackages(root)).toEqual(["node_modules/native"]);
    expect(explainMissing(root, missingPackages(root))).toBe("1 package differs from the lockfile");
    install({ "node_modules/plain": plain, "node_modules/native": native }, []);
    expect(missingPackages(root)).toEqual(["node_modules/native"]);
  });
});
