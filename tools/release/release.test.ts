import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { compareWithReleases } from "./compatibility.mjs";
import { makeRelease, planRelease } from "./release.mjs";

const operation = { responses: { "200": { description: "" } } };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bursar-release-"));
  git("init", "--quiet");
  git("config", "user.name", "Test");
  git("config", "user.email", "test@example.com");
  writeVersion("0.1.0");
  writeDocument({ "/v1/assets": { get: operation }, "/v1/wallets": { get: operation } });
  commit();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();
}

function commit(): void {
  git("add", "--all");
  git("commit", "--quiet", "-m", "a change");
}

function write(path: string, content: unknown): void {
  writeFileSync(join(folder, path), JSON.stringify(content));
}

function writeVersion(version: string, ofServer = version): void {
  mkdirSync(join(folder, "server"), { recursive: true });
  write("package.json", { version, workspaces: ["server"] });
  write("server/package.json", { version: ofServer });
}

const writeDocument = (paths: object) => write("openapi.json", { paths });

it("has nothing to compare with before the first release", () => {
  expect(compareWithReleases(folder)).toEqual({ releases: [], changes: [] });
});

it("plans a release without writing anything", () => {
  expect(planRelease(folder)).toEqual({
    version: "0.1.0",
    baseline: "docs/api/openapi-0.1.0.json",
    tag: "v0.1.0",
    obstacles: [],
  });
  expect(existsSync(join(folder, "docs"))).toBe(false);
  expect(git("tag")).toBe("");
});

it("keeps the document of a release in the commit that it tags", () => {
  makeRelease(folder, planRelease(folder));
  expect(git("tag")).toBe("v0.1.0");
  expect(git("status", "--porcelain")).toBe("");
  expect(git("show", "v0.1.0:docs/api/openapi-0.1.0.json")).toBe(
    readFileSync(join(folder, "openapi.json"), "utf8"),
  );
  expect(compareWithReleases(folder)).toEqual({ releases: ["docs/api/openapi-0.1.0.json"], changes: [] });
});

it("compares with every release from the first on, and refuses a release that breaks their clients", () => {
  makeRelease(folder, planRelease(folder));
  writeVersion("0.2.0");
  writeDocument({ "/v1/assets": { get: operation } });
  commit();
  expect(compareWithReleases(folder).changes).toEqual([
    "docs/api/openapi-0.1.0.json: GET /v1/wallets is gone",
  ]);
  expect(planRelease(folder).obstacles).toEqual([
    "This would break clients of docs/api/openapi-0.1.0.json: GET /v1/wallets is gone",
  ]);
});

it("refuses a version that was released before", () => {
  makeRelease(folder, planRelease(folder));
  expect(planRelease(folder).obstacles).toEqual([
    "The tag v0.1.0 exists. Raise the version first.",
    "docs/api/openapi-0.1.0.json exists. Raise the version first.",
  ]);
});

it("refuses a checkout with uncommitted changes, or packages whose versions differ", () => {
  writeVersion("0.2.0", "0.1.0");
  expect(planRelease(folder).obstacles).toEqual([
    "server has version 0.1.0, the workspace has 0.2.0.",
    "The checkout has uncommitted changes.",
  ]);
});
