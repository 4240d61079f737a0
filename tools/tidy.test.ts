import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findForbiddenImports } from "./arrows.mjs";
import { listFiles, root } from "./files.mjs";
import { longestFiles } from "./longest-first.js";
import { proofFiles } from "./proofs/proofs.mjs";
import { avoidedWords, notYetSwept } from "./words.mjs";

/** Habits of the project that no other tool checks. */

const read = (path: string) => readFileSync(join(root, path), "utf8");
const code = listFiles("**/*.ts", "**/*.mjs").filter((path) => !path.includes("/generated/"));
const documents = listFiles("**/*.md");
const wordsFile = "tools/words.mjs";
const linesMax = 300;
const filesMax = 25;

/** The lines of a file that match a pattern, with their positions. */
function linesWith(path: string, pattern: RegExp): string[] {
  return read(path)
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
}

describe("tidy", () => {
  it("finds the files", () => {
    expect(code.length).toBeGreaterThan(30);
    expect(documents.length).toBeGreaterThan(5);
  });

  it("keeps clock and randomness out of the domain", () => {
    const domain = listFiles("packages/domain/src/**/*.ts").filter((path) => !path.endsWith(".test.ts"));
    expect(
      domain.flatMap((path) =>
        linesWith(path, /Date\.now|new Date\(\)|Math\.random|randomUUID|performance\.now/),
      ),
    ).toEqual([]);
  });

  it("has no files or folders named after nothing in particular", () => {
    expect(
      code.filter((path) => /(^|\/)(utils?|helpers?|common|shared|misc|types)(\/|\.(ts|mjs)$)/.test(path)),
    ).toEqual([]);
  });

  it(`keeps files under ${linesMax} lines`, () => {
    expect(code.filter((path) => read(path).split("\n").length > linesMax)).toEqual([]);
  });

  it(`keeps folders to ${filesMax} files of code, which are grouped by subject before there are more`, () => {
    const counts = new Map<string, number>();
    for (const path of code) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > filesMax)).toEqual([]);
  });

  it("has no disabled or focused tests, and no TODO comments", () => {
    const own = "tools/tidy.test.ts";
    const others = code.filter((path) => path !== own);
    expect(
      others.flatMap((path) =>
        linesWith(path, /\b(it|test|describe)\.(only|skip|todo)\b|\b(TODO|FIXME|XXX|HACK)\b/),
      ),
    ).toEqual([]);
  });

  it("runs every test file: each is a unit, an integration test or one of the proofs", () => {
    const apart = listFiles("packages/server/test/**/*.test.ts").filter(
      (path) => !/^packages\/server\/test\/integration\//.test(path),
    );
    const listed = proofFiles.flatMap((glob) => listFiles(glob));
    expect(apart.filter((path) => !listed.includes(path))).toEqual([]);
    expect([...proofFiles, ...longestFiles].filter((glob) => listFiles(glob).length === 0)).toEqual([]);
  });

  it("avoids the words listed in words.mjs, except in folders listed there", () => {
    const swept = [...code, ...documents, ...listFiles(".ci/*")].filter(
      (path) => path !== wordsFile && !notYetSwept.some((start) => path.startsWith(start)),
    );
    expect(
      swept.flatMap((path) =>
        avoidedWords.flatMap(({ pattern, instead }) =>
          linesWith(path, pattern).map((line) => `${line} (write: ${instead})`),
        ),
      ),
    ).toEqual([]);
  });

  it("makes no decision on the message of an error", () => {
    const sources = listFiles("packages/*/src/**/*.ts").filter(
      (path) => !path.endsWith(".test.ts") && !path.includes("/rails/"),
    );
    expect(sources.flatMap((path) => linesWith(path, /message\.(includes|match|startsWith)\(/))).toEqual([]);
  });

  it("starts what people do in the console with useAction, which ignores the second click of two", () => {
    const console = listFiles("packages/console/src/**/*.ts", "packages/console/src/**/*.tsx");
    const users = console.filter((path) => linesWith(path, /\buseMutation\b/).length > 0);
    expect(users).toEqual(["packages/console/src/api/use-action.ts"]);
  });

  it("has no broken links in documents", () => {
    const broken = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)/g)].flatMap(
        ([, target = "", anchor]) => {
          const file = target === "" ? path : join(dirname(path), target);
          if (!existsSync(join(root, file))) return [`${path}: ${target}`];
          return anchor === undefined || !file.endsWith(".md") || anchorsOf(read(file)).has(anchor.slice(1))
            ? []
            : [`${path}: ${target}${anchor}`];
        },
      ),
    );
    expect(broken).toEqual([]);
  });
});

/** The anchors that a Markdown page offers: its headings, lower case, with hyphens for spaces. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("the arrows", () => {
  it.each([
    ["packages/domain/src/a.ts", 'import { readFileSync } from "node:fs";', "imports the package node:fs"],
    [
      "packages/domain/src/a.ts",
      'import type { X } from "@bursar/protocol";',
      "imports packages/protocol/src",
    ],
    [
      "packages/server/src/http/a.ts",
      'import type { X } from "../store/database.js";',
      "imports packages/server/src/store",
    ],
    [
      "packages/server/src/http/a.ts",
      'export { x } from "../store/database.js";',
      "imports packages/server/src/store",
    ],
    ["packages/server/src/app/a.ts", 'await import("../http/edge.js");', "imports packages/server/src/http"],
    [
      "packages/server/src/app/a.ts",
      'type X = import("../store/database.js").Y;',
      "imports packages/server/src/store",
    ],
    ["packages/server/src/app/a.ts", 'import f from "node-fetch";', "imports the package node-fetch"],
    ["packages/server/src/app/a.ts", 'import Fastify from "fastify";', "imports the package fastify"],
    ["packages/server/src/elsewhere/a.ts", "", "belongs to no part"],
    ["packages/server/src/cli/a.ts", 'await import("@bursar/devnet");', "imports packages/devnet/src"],
    ["packages/server/src/main.ts", 'import { x } from "@bursar/signer";', "imports packages/signer/src"],
  ])("%s must not say %s", (path, source, fault) => {
    expect(new Set(findForbiddenImports(path, source))).toEqual(new Set([expect.stringContaining(fault)]));
  });

  it("allow what is listed", () => {
    expect(
      findForbiddenImports(
        "packages/server/src/http/a.ts",
        'import { x } from "@bursar/protocol"; import "../app/readiness.js";',
      ),
    ).toEqual([]);
  });
});
