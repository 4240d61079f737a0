import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { spawnSigner } from "../src/index.js";
import { newWallet, payment } from "./intents.js";
import { addressOf, signOne } from "./socket.js";

const root = resolve(import.meta.dirname, "../../..");

/** The commands of the page, in the order in which they are there. */
const blocks = [
  ...readFileSync(join(root, "docs/operating/signer.md"), "utf8").matchAll(/```sh\n(.*?)```/gs),
].map(([, block]) => block ?? "");

it("the commands of the page for operators work", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signer-page-"));
  symlinkSync(join(root, "bursar-signer"), join(folder, "bursar-signer"));
  const run = (command: string) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", command], { cwd: folder, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const [setUp = "", drill = "", adopt = "", replaceKey = "", ...others] = blocks;
  expect(others).toEqual([]);
  run(setUp);

  const place = { folder: join(folder, "signer"), keyFile: join(folder, "signer.key") };
  const signer = await spawnSigner(place);
  const wallet = newWallet();
  const sender = { ...wallet, address: await addressOf(signer.socketPath, wallet) };
  const intent = payment(sender);
  const signed = await signOne(signer.socketPath, intent);

  // The words, as somebody has written them down. The journal is copied while the signer runs.
  const show = './bursar-signer words --data "$PWD/signer" --key-file signer.key --show';
  const shown = run(`script -qec '${show}' /dev/null`).match(/[a-z]{3,8}/g) ?? [];
  expect(shown.length).toBe(24);
  writeFileSync(join(folder, "words.txt"), shown.join(" "), { mode: 0o600 });
  expect(run(drill)).toContain("1 wallets, 1 signatures");
  expect(existsSync(join(folder, "drill"))).toBe(false);

  await signer.stop();
  // What the database has, with a `psql` that writes it.
  const row = [wallet.tenantId, wallet.walletId, wallet.network, sender.address].join();
  writeFileSync(join(folder, "psql"), `#!/bin/sh\necho ${row} > wallets.csv\n`, { mode: 0o755 });
  const withoutJournal =
    'mv signer kept; ./bursar-signer init --data "$PWD/signer" --key-file signer.key --mnemonic-file words.txt';
  run(withoutJournal);
  expect(run(`PATH="$PWD:$PATH"; DATABASE_URL=; ${adopt}`)).toContain("1 wallets were adopted, 0 were known");
  expect(run(`PATH="$PWD:$PATH"; DATABASE_URL=; ${adopt}`)).toContain("0 wallets were adopted, 1 were known");
  run("rm -r signer; mv kept signer");

  expect(run(replaceKey)).toContain("1 wallets, 1 signatures");
  const again = await spawnSigner(place);
  expect(await signOne(again.socketPath, intent)).toEqual(signed);
  await again.stop();
  rmSync(folder, { recursive: true });
});
