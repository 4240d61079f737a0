import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createFolder } from "../src/create-folder.js";
import { journalPath } from "../src/journal/journal.js";
import { headPath } from "../src/journal/journal-head.js";
import { createKeyFile, readSealingKeys, type SealingKey } from "../src/seed/sealing-keys.js";
import { createSignerService } from "../src/signer-service.js";
import { standardFeeLimits } from "../src/signing/fee-limits.js";
import { openFolder } from "../src/start-signer.js";
import { newWallet, payment, toJson } from "./intents.js";

const parent = mkdtempSync(join(tmpdir(), "signer-journal-"));
const original = join(parent, "original");
const wallet = newWallet();
let keys: readonly [SealingKey, ...SealingKey[]];
let intents: ReturnType<typeof payment>[];
let answers: readonly object[];

const open = async (folder: string, acceptsBackup = false) => {
  const opened = await openFolder(folder, keys, standardFeeLimits, acceptsBackup);
  return { ...opened, service: createSignerService({ ...opened }) };
};

/** A copy of a folder with a wallet and five signatures: seven lines. */
function copy(): { folder: string; path: string; lines: string[] } {
  const folder = mkdtempSync(join(parent, "copy-"));
  cpSync(original, folder, { recursive: true });
  const path = journalPath(folder);
  return { folder, path, lines: readFileSync(path, "utf8").split("\n").slice(0, -1) };
}

const rewrite = (path: string, lines: readonly string[]) =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

async function reopened(folder: string, acceptsBackup = false): Promise<readonly object[]> {
  const { service, close } = await open(folder, acceptsBackup);
  const again = await service.sign(intents.map(toJson));
  await close();
  return again;
}

beforeAll(async () => {
  createKeyFile(join(parent, "key"));
  keys = readSealingKeys(join(parent, "key"));
  await createFolder(original, keys[0]);
  const { service, close } = await open(original);
  const [address] = (await service.addressesOf([wallet])) as [string];
  intents = [0, 1, 2, 3, 4].map((nonce) => payment({ ...wallet, address }, { nonce }));
  answers = await service.sign(intents.map(toJson));
  await close();
  return () => rmSync(parent, { recursive: true });
});

describe("the journal", () => {
  it("is read again", async () => {
    const { folder, lines } = copy();
    expect(lines.length).toBe(7);
    expect(await reopened(folder)).toEqual(answers);
    expect(readFileSync(journalPath(folder), "utf8").split("\n").length).toBe(8);
  });

  it.each<[string, (lines: string[]) => string[], number]>([
    ["an amount was changed", (l) => l.with(4, (l[4] as string).replace('"amount":"1', '"amount":"2')), 5],
    ["a line was removed", (l) => l.toSpliced(3, 1), 4],
    ["the first line was removed", (l) => l.slice(1), 1],
    ["two lines were exchanged", (l) => l.with(3, l[4] as string).with(4, l[3] as string), 4],
    ["a line is there twice", (l) => l.toSpliced(3, 0, l[3] as string), 5],
    ["the last line was changed", (l) => l.with(6, (l[6] as string).replace('"nonce":4', '"nonce":5')), 7],
    ["a line was added", (l) => [...l, (l[6] as string).replace('"nonce":4', '"nonce":5')], 8],
    ["a line is empty", (l) => l.toSpliced(2, 0, ""), 3],
  ])("is refused if %s", async (_, change, line) => {
    const { folder, path, lines } = copy();
    rewrite(path, change(lines));
    await expect(open(folder)).rejects.toThrow(
      `Line ${line} of ${path} does not follow from the lines before it`,
    );
    // The same again: a refused folder is not left locked or repaired.
    await expect(open(folder)).rejects.toThrow("does not follow");
  });

  it("is refused if its end was cut off", async () => {
    for (const count of [6, 1]) {
      const { folder, path, lines } = copy();
      rewrite(path, lines.slice(0, count));
      await expect(open(folder)).rejects.toThrow(`has ${count} lines, but 7 were written before`);
    }
  });

  it("is refused if it is empty or missing", async () => {
    const { folder, path } = copy();
    truncateSync(path, 0);
    await expect(open(folder)).rejects.toThrow("is empty. Restore the journal");
    rmSync(path);
    await expect(open(folder)).rejects.toThrow("does not exist, but the seed does");
  });

  it("is refused if it belongs to another seed", async () => {
    const { path } = copy();
    const other = join(parent, "other");
    await createFolder(other, keys[0]);
    cpSync(path, journalPath(other));
    await expect(open(other)).rejects.toThrow("belongs to another seed");
  });

  it("loses a last line that is incomplete, which nobody has seen", async () => {
    const { folder, path, lines } = copy();
    const whole = readFileSync(path);
    appendFileSync(path, (lines[6] as string).slice(0, 200));
    const { tornBytes, close } = await open(folder);
    await close();
    expect(tornBytes).toBe(200);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(await reopened(folder)).toEqual(answers);
  });

  it("is refused if what follows the last line is no line at all", async () => {
    const { folder, path } = copy();
    appendFileSync(path, "x".repeat(5000));
    await expect(open(folder)).rejects.toThrow("Line 8 of");
  });

  it("is refused with signatures and without the file that says how far it was written, unless it is a backup", async () => {
    const { folder, path, lines } = copy();
    rmSync(headPath(folder));
    rewrite(path, lines.slice(0, 5));
    const refused = `${headPath(folder)} is missing, and the journal has 3 signatures`;
    await expect(open(folder)).rejects.toThrow(refused);
    await expect(open(folder)).rejects.toThrow("start once with --journal-from-backup");
    expect(await reopened(folder, true)).toEqual(answers);
    expect(await reopened(folder)).toEqual(answers);
  });

  it("gives the same addresses in the same order if it ends before the wallets", async () => {
    const { folder, path, lines } = copy();
    const others = [newWallet({ tenantId: wallet.tenantId }), newWallet(), newWallet()];
    const first = await open(folder);
    const addresses = await first.service.addressesOf([wallet, ...others]);
    await first.close();
    rmSync(headPath(folder));
    rewrite(path, lines.slice(0, 1));
    const second = await open(folder);
    expect(await second.service.addressesOf([wallet, ...others])).toEqual(addresses);
    await second.close();
  });

  it("is refused if the file that says how far it was written is damaged", async () => {
    const { folder } = copy();
    truncateSync(headPath(folder), 10);
    await expect(open(folder)).rejects.toThrow("is damaged");
  });
});
