import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./bundle.mjs";
import { root } from "./files.mjs";

describe("the bundle of the service", () => {
  // In the folder where it always is, because it finds files by their place.
  const target = join(root, "packages/server/dist/bundle-of-test");
  const run = (script: string) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 120_000,
    });
  beforeAll(() => bundle(target));
  afterAll(() => rmSync(target, { recursive: true, force: true }));

  it("is the command line, which finds the files of its package", () => {
    const { stdout } = run(`
      const { runCli } = await import(${JSON.stringify(join(target, "program.js"))});
      process.exit((await runCli(["--version"])) + (await runCli(["database", "roles", "--grants-only"])));
    `);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n/);
    expect(stdout).toContain('ON "public".transactions TO "bursar_service";');
  });

  it("finds no member by its name in a library in CommonJS that is loaded later, so no source asks for one", () => {
    // esbuild gives such a library its default export alone; Node also finds the names.
    const folder = join(root, "packages/server/src");
    const asked = /const \{ (\w+)[^}]*\} = await import\("undici"\)/g;
    const first = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .flatMap((path) =>
        [...readFileSync(join(folder, path), "utf8").matchAll(asked)].map(([, name]) => name),
      );
    expect(new Set(first)).toEqual(new Set(["default"]));
  });

  it("names the sources in the stack trace of an error", () => {
    const { stderr } = run(`
      import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      import { mapStackTraces } from ${JSON.stringify(join(root, "packages/server/bin/map-stack-traces.mjs"))};
      mapStackTraces(${JSON.stringify(`${pathToFileURL(target).href}/`)});
      const { runCli } = await import(${JSON.stringify(join(target, "program.js"))});
      const { readFileSync } = fs;
      fs.readFileSync = (path, options) => {
        if (String(path).endsWith("schema.sql")) throw new Error("no file today");
        return readFileSync(path, options);
      };
      syncBuiltinESMExports();
      process.exit(await runCli(["database", "roles"]));
    `);
    expect(stderr).toContain("no file today");
    expect(stderr).toMatch(/packages\/server\/src\/store\/core\/schema\/database-roles\.ts:\d+/);
  });
});

describe("bin/bursar.mjs", () => {
  let copy: string;
  const write = (path: string, content: string, seconds: number) => {
    mkdirSync(join(copy, path, ".."), { recursive: true });
    writeFileSync(join(copy, path), content);
    utimesSync(join(copy, path), seconds, seconds);
  };
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), "bursar-bin-"));
    cpSync(join(root, "packages/server/bin"), join(copy, "packages/server/bin"), { recursive: true });
  });
  afterAll(() => rmSync(copy, { recursive: true }));
  const program = (name: string) => `export const runCli = () => console.log(${JSON.stringify(name)});`;
  const start = () =>
    spawnSync(process.execPath, [join(copy, "packages/server/bin/bursar.mjs")], { encoding: "utf8" }).stdout;

  it("runs the modules until there is a bundle, and again after the compiler alone has built", () => {
    write("packages/server/dist/cli/program.js", program("modules"), 1000);
    for (const name of ["server", "domain", "protocol"])
      write(`packages/${name}/dist/tsconfig.tsbuildinfo`, "", 1000);
    expect(start()).toBe("modules\n");
    write("packages/server/dist/bundle/program.js", program("bundle"), 2000);
    expect(start()).toBe("bundle\n");
    write("packages/domain/dist/tsconfig.tsbuildinfo", "", 3000);
    expect(start()).toBe("modules\n");
  });
});
