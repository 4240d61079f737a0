import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { diffLines } from "../src/commands/diff-lines.js";
import { commands } from "../src/commands/table.js";
import { globalOptions } from "../src/parse/global-options.js";
import { runsInServer } from "../src/server/operator-commands.js";
import { createRunner } from "./harness/run.js";

const cli = createRunner("http://127.0.0.1:9");

describe("the table of commands", () => {
  it("names each command once, with options that are not those of every command", () => {
    const paths = commands.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    const global = globalOptions.map(({ name }) => name);
    for (const { path, options = [] } of commands) {
      const names = options.map(({ name }) => name);
      expect([path, names.filter((name) => global.includes(name))]).toEqual([path, []]);
      expect([path, new Set(names).size]).toEqual([path, names.length]);
    }
  });

  it("gives help for all and for each", async () => {
    const { out, code } = await cli.run(["help"]);
    expect(code).toBe(0);
    for (const { path, summary } of commands) {
      expect(out).toContain(`  ${path}`);
      expect(out).toContain(summary);
      const own = await cli.run([...path.split(" "), "--help"]);
      expect({ path, code: own.code }).toEqual({ path, code: 0 });
      expect(own.out).toContain(`Usage: bursar ${path}`);
    }
    expect((await cli.run([])).code).toBe(2);
    expect((await cli.run(["tx"])).out).toContain("tx approve <transaction>");
    expect((await cli.run(["help", "tx", "create"])).out).toContain("On a terminal it asks first.");
  });

  it("completes commands and options in bash", async () => {
    const { out } = await cli.run(["completion", "bash"]);
    const complete = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(bursar ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _bursar; echo "\${COMPREPLY[*]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split(" ");
    };
    expect(complete("orderb")).toEqual(["orderbook"]);
    expect(complete("tx", "")).toEqual([
      "create",
      "get",
      "list",
      "watch",
      "cancel",
      "speed-up",
      "approve",
      "reject",
    ]);
    expect(complete("tx", "create", "1", "--ref")).toEqual(["--reference"]);
    expect(complete("completion", "z")).toEqual(["zsh"]);
    expect(complete("tx", "list", "--limit", "5", "--state", "c")).toEqual([
      "confirming",
      "completed",
      "cancelled",
    ]);
    expect(complete("tx", "create", "1", "USD", "--reference", "")).toEqual([""]);
    expect(complete("me", "--profile", "sand")).toEqual(["sandbox"]);
    for (const shell of ["zsh", "fish"])
      expect((await cli.run(["completion", shell])).out).toContain("orderbook");
  });

  it.runIf(spawnSync("zsh", ["--version"]).status === 0)("completes in zsh", async () => {
    const { out } = await cli.run(["completion", "zsh"]);
    const complete = (...typed: string[]) => {
      const script = `compdef() {}; compadd() { shift; print -- $@; }\n${out}\nwords=(bursar ${typed.map((word) => `'${word}'`).join(" ")} ''); CURRENT=$#words; _bursar`;
      return execFileSync("zsh", ["-fc", script], { encoding: "utf8" }).trim().split(" ");
    };
    expect(complete()).toContain("orderbook");
    expect(complete("webhooks")).toContain("verify");
    expect(complete("tx", "create", "1")).toContain("--reference");
    expect(complete("order", "place", "--time-in-force")).toEqual(["gtc", "ioc", "fok", "post_only"]);
  });

  it("leaves the operator's commands to the server, also those that share a word", () => {
    for (const args of [
      ["serve"],
      ["dev"],
      ["policy", "set", "x"],
      ["audit", "verify"],
      ["wallet", "adopt"],
      ["client", "list"],
    ])
      expect([args, runsInServer(args)]).toEqual([args, true]);
    for (const args of [
      ["policy", "get"],
      ["audit"],
      ["audit", "--json"],
      ["wallet", "list"],
      ["clients", "list"],
      ["token"],
      [],
    ])
      expect([args, runsInServer(args)]).toEqual([args, false]);
  });
});

it("a difference has the changed lines and some around them", () => {
  const lines = diffLines(["a", "b", "c", "d", "e", "f"], ["a", "b", "c", "D", "e", "f"]);
  expect(lines.map(({ sign, line }) => sign + line)).toEqual([" b", " c", "-d", "+D", " e", " f"]);
  expect(diffLines(["a"], ["a"])).toEqual([]);
});
