import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createKeyring } from "./keyring.js";
import { readMasterKeys } from "./master-key.js";

describe("a file of master keys", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-keys-"));
  const path = join(folder, "master.key");
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (text: string, mode = 0o600) => {
    writeFileSync(path, text);
    chmodSync(path, mode);
  };

  it("has one key a line, the current one first", () => {
    const [newer, older] = [randomBytes(32), randomBytes(32)];
    write(`# rotated in May\n${newer.toString("base64")}\n\n${older.toString("hex")}\n`);
    const expected = createKeyring([newer, older]).all.map(({ id }) => id);
    expect(readMasterKeys(path).all.map(({ id }) => id)).toEqual(expected);
  });

  it.each([0o640, 0o604, 0o644, 0o660, 0o602, 0o610])("is refused with the mode %o", (mode) => {
    write(randomBytes(32).toString("hex"), mode);
    expect(() => readMasterKeys(path)).toThrow(/too open.*chmod 600/);
  });

  it.each([
    ["nothing", ""],
    ["a short key", randomBytes(31).toString("hex")],
    ["a second key that is short", `${randomBytes(32).toString("hex")}\n${randomBytes(16).toString("hex")}`],
    ["too many keys", Array.from({ length: 9 }, () => randomBytes(32).toString("hex")).join("\n")],
  ])("is refused with %s", (_what, text) => {
    write(text);
    expect(() => readMasterKeys(path)).toThrow(/not 32 bytes/);
  });

  it("is refused with the same key twice, or if it is far too large", () => {
    const key = randomBytes(32);
    write(`${key.toString("hex")}\n${key.toString("base64")}`);
    expect(() => readMasterKeys(path)).toThrow(/twice/);
    write("#".repeat(10_000));
    expect(() => readMasterKeys(path)).toThrow(/too large/);
  });
});
