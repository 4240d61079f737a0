import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { signerProgram } from "../src/index.js";
import { publicWords } from "../src/memory-signer.js";

const parent = mkdtempSync(join(tmpdir(), "signer-cli-"));
let folders = 0;

function place() {
  folders += 1;
  const folder = join(parent, `data-${folders}`);
  const keyFile = join(parent, `key-${folders}`);
  writeFileSync(keyFile, `${Buffer.alloc(32, folders).toString("base64")}\n`, { mode: 0o600 });
  return { folder, keyFile, args: ["--data", folder, "--key-file", keyFile] };
}

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [signerProgram, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

function privateFile(name: string, content: string): string {
  const path = join(parent, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const onTerminal = (...args: readonly string[]) =>
  spawnSync("script", ["-qec", [process.execPath, signerProgram, ...args].join(" "), "/dev/null"], {
    encoding: "utf8",
  });

afterAll(() => rmSync(parent, { recursive: true }));

describe("the command line", () => {
  it("creates a seed, which never leaves the folder unencrypted, and shows its words on a terminal only", () => {
    const { folder, args } = place();
    expect(run("init", ...args)).toMatchObject({ status: 0, stderr: "" });
    expect(run("words", ...args)).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("--show"),
    });
    expect(run("words", ...args, "--show")).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("on a terminal only"),
    });
    const shown = onTerminal("words", ...args, "--show").stdout.match(/[a-z]{3,8}/g) ?? [];
    expect(shown.length).toBe(24);
    const again = place();
    const file = privateFile("words", shown.join("\n"));
    expect(run("init", ...again.args, "--mnemonic-file", file)).toMatchObject({ status: 0 });
    expect(onTerminal("words", ...again.args, "--show").stdout.match(/[a-z]{3,8}/g)).toEqual(shown);
    // A short word can be part of the cipher text, or of a name in the file.
    const sealed = readFileSync(join(folder, "seed.json"), "utf8");
    expect(shown.filter((word) => sealed.includes(word)).length).toBeLessThan(shown.length / 2);
  });

  it("does not replace a seed", () => {
    const { args } = place();
    expect(run("init", ...args).status).toBe(0);
    expect(run("init", ...args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("exists already"),
    });
  });

  it("refuses words with a wrong checksum or an unknown word, and a file that others can read", () => {
    const { args } = place();
    const init = (file: string) => run("init", ...args, "--mnemonic-file", file);
    const wrong = { status: 2, stderr: expect.stringContaining("The mnemonic is not valid") };
    expect(init(privateFile("checksum", publicWords.replace("junk", "test")))).toMatchObject(wrong);
    expect(init(privateFile("word", publicWords.replace("junk", "bursar")))).toMatchObject(wrong);
    const open = privateFile("open", publicWords);
    chmodSync(open, 0o644);
    expect(init(open)).toMatchObject({ status: 2, stderr: expect.stringContaining("are too open") });
    expect(init(privateFile("right", `  ${publicWords.toUpperCase().replaceAll(" ", "\n")}\n`)).status).toBe(
      0,
    );
  });

  it("refuses another key, a key that others can read, and something that is no key", () => {
    const { folder, keyFile, args } = place();
    expect(run("init", ...args).status).toBe(0);
    const other = place().keyFile;
    expect(run("check", "--data", folder, "--key-file", other)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /is sealed with the key [0-9a-f]{16}, and the key file has only [0-9a-f]{16}/,
      ),
    });
    chmodSync(keyFile, 0o640);
    expect(run("check", ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining("chmod 600") });
    const short = privateFile("short", "c2hvcnQ=\n");
    expect(run("check", "--data", folder, "--key-file", short)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("not 32 bytes"),
    });
    const missing = run("check", "--data", folder, "--key-file", join(parent, "none"));
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining("cannot be read") });
  });

  it("notices that the sealed seed was changed", () => {
    const { folder, args } = place();
    run("init", ...args);
    const path = join(folder, "seed.json");
    const seed = JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    for (const change of [
      { createdAt: "2020-01-01T00:00:00.000Z" },
      { sealed: `AAAA${seed["sealed"]?.slice(4)}` },
    ]) {
      writeFileSync(path, JSON.stringify({ ...seed, ...change }));
      expect(run("check", ...args)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("was changed"),
      });
    }
  });

  it("replaces the key that seals the seed", () => {
    const { keyFile, args, folder } = place();
    run("init", ...args);
    const next = Buffer.alloc(32, 99).toString("base64");
    writeFileSync(keyFile, `${next}\n${readFileSync(keyFile, "utf8")}`);
    expect(run("reseal", ...args)).toMatchObject({ status: 0 });
    writeFileSync(keyFile, `${next}\n`);
    expect(run("check", "--data", folder, "--key-file", keyFile)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("0 wallets, 0 signatures"),
    });
  });

  it("refuses to adopt what is no list of wallets, and addresses of another seed", () => {
    const { args } = place();
    run("init", ...args);
    const adopt = (content: string) => run("adopt", ...args, "--wallets", privateFile("wallets", content));
    const ids = "0190a0b0-0000-7000-8000-000000000001,0190a0b0-0000-7000-8000-000000000002";
    const line = `${ids},eip155:1,0x${"a1".repeat(20)}\n`;
    const refusal = (message: string) => ({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
    expect(adopt("tenant,wallet\n")).toMatchObject(refusal("Line 1 of"));
    expect(adopt(line + line)).toMatchObject(refusal("twice"));
    expect(adopt(line)).toMatchObject(refusal("Nothing was adopted: 1 wallets"));
    expect(run("check", ...args).stdout).toContain("0 wallets");
  });

  it.each([
    [["fly"], 'no command "fly"'],
    [["--fly"], "fly"],
    [["init"], "--data FOLDER is missing"],
    [["serve", "--data", "x", "--key-file", "y"], "--socket PATH is missing"],
    [["--socket", "s", "--socket-mode", "0777"], "must be 0600 or 0660"],
    [["--socket", "s", "--max-fee", "1.5"], "--max-fee must be a number of wei"],
    [["--socket", "s", "--max-fee-per-gas", "eip155=1"], "--max-fee-per-gas must be"],
  ])("explains what is wrong with %j", (args, message) => {
    expect(run(...args)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
  });

  it("does not remove a file that is in the place of its socket", () => {
    const { args } = place();
    const socket = privateFile("not-a-socket", "content");
    expect(run("serve", "--create", ...args, "--socket", socket)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("is not a socket"),
    });
    expect(readFileSync(socket, "utf8")).toBe("content");
  });
});
