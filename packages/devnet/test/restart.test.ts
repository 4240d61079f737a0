import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/harness/eventually.js";
import { type SpawnedDevnet, spawnDevnet } from "../src/index.js";
import { fundedAccount, newAddress, readerOf, send, sign } from "./devnet-for-tests.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const kills = Number(process.env["BURSAR_DEVNET_KILLS"]);
const timeoutMs = 240_000 + kills * 10_000;

const folders: string[] = [];
const running = new Set<SpawnedDevnet>();

afterEach(async () => {
  for (const devnet of running) await devnet.kill();
  running.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bursar-devnet-"));
  folders.push(folder);
  return folder;
}

async function start(folder: string, ...args: string[]): Promise<SpawnedDevnet> {
  const devnet = await spawnDevnet(["--data", folder, ...args]);
  running.add(devnet);
  return devnet;
}

async function end(devnet: SpawnedDevnet, how: "stop" | "kill"): Promise<number | null | undefined> {
  running.delete(devnet);
  return (await devnet[how]()) ?? undefined;
}

/** Every block of the chain with its transactions, as a node serves them. */
async function allBlocks(devnet: SpawnedDevnet): Promise<unknown[]> {
  const { head } = await devnet.control("devnet_status", {});
  const blocks: unknown[] = [];
  for (let number = 0; number <= head.number; number++)
    blocks.push(await devnet.request("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]));
  return blocks;
}

describe("a chain in a folder", () => {
  it("is the same after a restart: blocks, balances, receipts, and what was set by hand", async () => {
    const folder = newFolder();
    const first = await start(folder, "--manual");
    const account = await fundedAccount(first);
    const address = newAddress();
    await first.control("devnet_setBalance", { address, wei: "123456789" });
    await first.control("devnet_setBaseFee", { wei: "33000000000" });
    const hash = await send(first, await sign(account, { nonce: 0 }));
    await first.control("devnet_mine", { blocks: 3 });
    await first.control("devnet_reorganise", { depth: 2, add: 3, transactions: "include" });
    await first.control("devnet_setBalance", { address: account.address, wei: "5" });
    const before = [await allBlocks(first), await first.request("eth_getTransactionReceipt", [hash])];
    expect(await end(first, "stop")).toBe(0);

    const second = await start(folder, "--manual");
    expect([await allBlocks(second), await second.request("eth_getTransactionReceipt", [hash])]).toEqual(
      before,
    );
    const reader = readerOf(second.url);
    expect(await reader.getBalance({ address })).toBe(123_456_789n);
    expect(await reader.getBalance({ address: account.address })).toBe(5n);
    // It goes on, and a block that was mined before the restart can still be replaced.
    await second.control("devnet_reorganise", { depth: 3, transactions: "include" });
    await second.control("devnet_mine", {});
    const after = await allBlocks(second);
    await end(second, "kill");
    expect(await allBlocks(await start(folder, "--manual"))).toEqual(after);
  });

  it(
    "keeps every block that was seen when it is killed while it mines",
    async () => {
      const folder = newFolder();
      const seen = new Map<number, string>();
      for (let round = 0; round < kills; round++) {
        const devnet = await start(folder, "--block-time-ms", "10");
        for (const [number, hash] of seen)
          expect(
            await devnet.request("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]),
          ).toMatchObject({ hash });
        const from = (await devnet.control("devnet_status", {})).head.number;
        await devnet.control("devnet_fund", { address: newAddress(), amount: "1", asset: "ETH" });
        const { head } = await eventually(
          async () => {
            const status = await devnet.control("devnet_status", {});
            seen.set(status.head.number, status.head.hash);
            return status;
          },
          (status) => status.head.number > from + 3,
        );
        expect(head.number).toBeGreaterThan(from);
        await end(devnet, "kill");
      }
      expect(seen.size).toBeGreaterThan(2 * kills);
    },
    timeoutMs,
  );

  it("loses a last line that is damaged, and nothing before it", async () => {
    const folder = newFolder();
    const journal = join(folder, "journal.jsonl");
    const first = await start(folder, "--manual");
    await first.control("devnet_mine", { blocks: 3 });
    const before = await allBlocks(first);
    await end(first, "kill");
    appendFileSync(journal, '{"type":"block","number":5,"hash":"0x12');
    const second = await start(folder, "--manual");
    expect(await allBlocks(second)).toEqual(before);
    await second.control("devnet_mine", {});
    const after = await allBlocks(second);
    await end(second, "kill");
    const third = await start(folder, "--manual");
    expect(await allBlocks(third)).toEqual(after);
    await end(third, "kill");
    truncateSync(journal, readFileSync(journal).length - 10);
    expect(await allBlocks(await start(folder, "--manual"))).toEqual(before);
  });

  it("is refused with another chain id, twice at the same time, and with damage in the middle", async () => {
    const folder = newFolder();
    const devnet = await start(folder, "--manual");
    await expect(spawnDevnet(["--data", folder])).rejects.toThrow(
      `The process ${devnet.pid} is already using`,
    );
    await devnet.control("devnet_mine", {});
    await end(devnet, "stop");
    await expect(spawnDevnet(["--data", folder, "--chain-id", "5"])).rejects.toThrow(
      /with the id 31337, not l1 with 5/,
    );
    const journal = join(folder, "journal.jsonl");
    truncateSync(journal, readFileSync(journal).length - 10);
    appendFileSync(journal, "\n{}\n");
    await expect(spawnDevnet(["--data", folder])).rejects.toThrow(/^.*Line 3 of .* is damaged/);
  });

  it("begins with the same blocks in every folder", async () => {
    const [one, two] = [await spawnDevnet(["--manual"]), await spawnDevnet(["--manual"])];
    running.add(one).add(two);
    expect(await allBlocks(one)).toEqual(await allBlocks(two));
  });

  it("is not started with wrong options", async () => {
    await expect(spawnDevnet(["--chain-id", "x"])).rejects.toThrow(
      "ended with 2: devnet: --chain-id must be",
    );
    await expect(spawnDevnet(["--nothing"])).rejects.toThrow(
      "ended with 2: devnet: Unknown option '--nothing'",
    );
  });
});
