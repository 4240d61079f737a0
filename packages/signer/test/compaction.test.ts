import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createFolder } from "../src/create-folder.js";
import { compactionSteps } from "../src/journal/compact-journal.js";
import { journalPath } from "../src/journal/journal.js";
import { headPath } from "../src/journal/journal-head.js";
import { createKeyFile, readSealingKeys, type SealingKey } from "../src/seed/sealing-keys.js";
import { createSignerService } from "../src/signer-service.js";
import { standardFeeLimits } from "../src/signing/fee-limits.js";
import type { SigningIntent } from "../src/signing/intent.js";
import { openFolder } from "../src/start-signer.js";
import { cancellation, newWallet, payment, raised, toJson } from "./intents.js";

const parent = mkdtempSync(join(tmpdir(), "signer-compaction-"));
const original = join(parent, "original");
const wallets = [newWallet(), newWallet(), newWallet()];
let keys: readonly [SealingKey, ...SealingKey[]];
let addresses: readonly string[];
/** In the order in which they were signed: payments of three wallets, and further attempts for some of them. */
let intents: SigningIntent[];
let answers: readonly object[];

const open = async (folder: string) => {
  const opened = await openFolder(folder, keys, standardFeeLimits);
  return { ...opened, service: createSignerService({ ...opened }) };
};

const archive = (folder: string, line = 1) => join(folder, `journal-from-${line}.jsonl`);
const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").slice(0, -1);
const rewrite = (path: string, lines: readonly string[]) =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

function copy(): string {
  const folder = mkdtempSync(join(parent, "copy-"));
  cpSync(original, folder, { recursive: true });
  return folder;
}

async function compacted(): Promise<string> {
  const folder = copy();
  await (await open(folder)).compact();
  return folder;
}

const sender = (index: number) => ({
  ...(wallets[index] as (typeof wallets)[number]),
  address: addresses[index] ?? "",
});

/** Everything that was answered is answered in the same way, and nothing is signed that was refused before. */
async function expectSame(folder: string): Promise<void> {
  const { service, core, close } = await open(folder);
  expect(await service.addressesOf(wallets)).toEqual(addresses);
  expect(await service.sign(intents.map(toJson))).toEqual(answers);
  const [first, second] = intents as [SigningIntent, SigningIntent];
  const refused = [
    payment(sender(0), { nonce: 5 }),
    { ...first, nonce: 1000 },
    { ...first, amount: 5n },
    raised(first, 5n),
    raised(second, 100n),
  ];
  expect((await service.sign(refused.map(toJson))).map((one) => "refused" in one && one.refused)).toEqual([
    ...["NONCE_USED", "DIFFERENT_PAYMENT", "DIFFERENT_PAYMENT", "FEES_NOT_HIGHER", "CANCELLED"],
  ]);
  expect(core.counts()).toMatchObject({ wallets: 3, signatures: intents.length });
  await close();
}

beforeAll(async () => {
  createKeyFile(join(parent, "key"));
  keys = readSealingKeys(join(parent, "key"));
  await createFolder(original, keys[0]);
  const { service, close } = await open(original);
  addresses = (await service.addressesOf(wallets)) as string[];
  const payments = Array.from({ length: 90 }, (_, nonce) =>
    payment(sender(nonce % 3), { nonce: Math.floor(nonce / 3) }),
  );
  const [first, second] = payments as [SigningIntent, SigningIntent];
  intents = [...payments, raised(first, 20n), cancellation(second, 20n)];
  answers = await service.sign(intents.map(toJson));
  await close();
  return () => rmSync(parent, { recursive: true });
});

describe("a compacted journal", () => {
  it("is short, and the signer answers and refuses what it did before", async () => {
    const folder = await compacted();
    const lines = linesOf(journalPath(folder));
    // The first line, three wallets, and 92 signatures, 32 in a line.
    expect(lines.length).toBe(1 + 3 + 3);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(4096);
    expect(readFileSync(archive(folder), "utf8")).toBe(readFileSync(journalPath(original), "utf8"));
    await expectSame(folder);
  });

  it("goes on, and can be compacted again", async () => {
    const folder = await compacted();
    const first = await open(folder);
    const added = payment(sender(1), { nonce: 30 });
    const [signed] = await first.service.sign([toJson(added)]);
    const another = newWallet({ tenantId: wallets[1]?.tenantId ?? "" });
    const [address] = (await first.service.addressesOf([another])) as [string];
    await first.close();
    // A signer that has not compacted gives the next wallet the same key.
    const uncompacted = await open(copy());
    expect(await uncompacted.service.addressesOf([another])).toEqual([address]);
    await uncompacted.close();

    const second = await open(folder);
    await second.compact();
    const third = await open(folder);
    expect(await third.service.sign([...intents, added].map(toJson))).toEqual([...answers, signed]);
    expect(await third.service.addressesOf([another])).toEqual([address]);
    await third.close();
    // What was in the second file: its first line, its summary, and the two lines that were added.
    expect(linesOf(archive(folder, linesOf(archive(folder)).length + 1)).length).toBe(7 + 2);
  });

  it.each(compactionSteps)("is whole if the process ends when it is %s", async (step) => {
    const folder = copy();
    const crash = (reached: string) => {
      if (reached === step) throw new Error("the process ends");
    };
    await expect((await open(folder)).compact(crash)).rejects.toThrow("the process ends");
    expect(linesOf(journalPath(folder)).length).toBe(step === "replaced" ? 7 : 1 + 3 + 92);
    await expectSame(folder);
    // What was signed between the crash and the next compaction is in it.
    const between = await open(folder);
    const added = payment(sender(2), { nonce: 30 });
    const [signed] = await between.service.sign([toJson(added)]);
    await between.close();
    await (await open(folder)).compact();
    const last = await open(folder);
    expect(await last.service.sign([...intents, added].map(toJson))).toEqual([...answers, signed]);
    await last.close();
    expect(existsSync(`${journalPath(folder)}.new`)).toBe(false);
  });

  it("does not use a new file whose writing was interrupted", async () => {
    const folder = copy();
    appendFileSync(`${journalPath(folder)}.new`, '{"type":"compacted","ver');
    await expectSame(folder);
    await (await open(folder)).compact();
    await expectSame(folder);
  });

  it("is refused if its end was cut off, within the summary or behind it", async () => {
    const folder = await compacted();
    const { service, close } = await open(folder);
    await service.sign([toJson(payment(sender(0), { nonce: 30 }))]);
    await close();
    const lines = linesOf(journalPath(folder));
    expect(lines.length).toBe(8);
    for (const count of [7, 6, 1]) {
      rewrite(journalPath(folder), lines.slice(0, count));
      await expect(open(folder)).rejects.toThrow("97 were written before: its end was removed");
    }
    // Without the head only what the summary itself says is known.
    rmSync(headPath(folder));
    rewrite(journalPath(folder), lines.slice(0, 6));
    await expect(openFolder(folder, keys, standardFeeLimits, true)).rejects.toThrow(
      "96 were written before: its end was removed",
    );
  });

  it("is refused if its summary was changed, or the journal that it replaces is put back", async () => {
    const folder = await compacted();
    const { service, close } = await open(folder);
    await service.sign([toJson(payment(sender(0), { nonce: 30 }))]);
    await close();
    const lines = linesOf(journalPath(folder));
    const changed = (lines[5] as string).replace(/"records":"..../, '"records":"AAAA');
    rewrite(journalPath(folder), lines.with(5, changed));
    await expect(open(folder)).rejects.toThrow("Line 6 of");
    cpSync(archive(folder), journalPath(folder));
    await expect(open(folder)).rejects.toThrow("has 96 lines, but 97 were written before");
  });

  it("does not replace a file that has the name for the old one", async () => {
    const folder = copy();
    writeFileSync(archive(folder), "older\n");
    await expect((await open(folder)).compact()).rejects.toThrow("exists already. Move it to another folder");
    await expectSame(folder);
  });

  it("makes another process that still uses the old one end before it answers", async () => {
    const folder = copy();
    const other = await open(folder);
    await (await open(folder)).compact();
    const late = other.service.sign([toJson(payment(sender(0), { nonce: 31 }))]);
    await expect(late).rejects.toThrow("another process has replaced it");
    await other.close();
    await expectSame(folder);
  });
});
