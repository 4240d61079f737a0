import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type SpawnedSigner, signerProgram, spawnSigner } from "../src/index.js";
import { journalPath } from "../src/journal/journal.js";
import { network, newWallet, payment, raised, toJson } from "./intents.js";
import { addressOf, call, signAll, signOne } from "./socket.js";

const started: SpawnedSigner[] = [];

async function start(options: Parameters<typeof spawnSigner>[0] = {}): Promise<SpawnedSigner> {
  const signer = await spawnSigner(options);
  started.push(signer);
  return signer;
}

const again = ({ folder, keyFile, socketPath }: SpawnedSigner) => start({ folder, keyFile, socketPath });

async function senderOf({ socketPath }: SpawnedSigner) {
  const wallet = newWallet();
  return { ...wallet, address: await addressOf(socketPath, wallet) };
}

afterEach(async () => {
  for (const signer of started.splice(0)) await signer.kill();
});

describe("the process", () => {
  it("answers over a socket that only its own account can use", async () => {
    const signer = await start();
    const { socketPath } = signer;
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    expect(statSync(signer.folder).mode & 0o777).toBe(0o700);
    for (const file of ["seed.json", "journal.jsonl", "journal.head"])
      expect(statSync(`${signer.folder}/${file}`).mode & 0o777).toBe(0o600);
    const sender = await senderOf(signer);
    await signOne(socketPath, payment(sender));
    const { status, body } = await call(socketPath, "GET", "/health");
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...{ status: "ready", keyId: expect.stringMatching(/^[0-9a-f]{16}$/), wallets: 1, signatures: 1 },
        runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        limits: {
          perGas: { standard: "1000000000000", networks: {} },
          perTransaction: { standard: "100000000000000000", networks: {} },
        },
      },
    });
    expect(await signer.stop()).toBe(0);
    expect(existsSync(socketPath)).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)("does not let another account connect", async () => {
    const { socketPath } = await start();
    chmodSync(dirname(socketPath), 0o755);
    const connect = `require("net").connect(process.argv[1]).on("connect",()=>console.log("connected")).on("error",(e)=>console.log(e.code))`;
    const { stdout } = spawnSync(process.execPath, ["-e", connect, socketPath], { uid: 65_534, gid: 65_534 });
    expect(String(stdout)).toBe("EACCES\n");
  });

  it("can admit the group of the socket's folder", async () => {
    const { socketPath } = await start({ args: ["--socket-mode", "0660"] });
    expect(statSync(socketPath).mode & 0o777).toBe(0o660);
  });

  it("returns the same bytes and addresses after it was killed", async () => {
    const first = await start();
    const sender = await senderOf(first);
    const intent = payment(sender);
    const signed = await signOne(first.socketPath, intent);
    const replaced = await signOne(first.socketPath, raised(intent, 20n));
    await first.kill();
    const { socketPath } = await again(first);
    expect(await addressOf(socketPath, sender)).toBe(sender.address);
    expect(await signAll(socketPath, [intent, raised(intent, 20n), payment(sender)])).toEqual([
      signed,
      replaced,
      expect.objectContaining({ refused: "NONCE_USED" }),
    ]);
  });

  it("knows what it signed if it is killed between the journal and the answer", async () => {
    const first = await start();
    const sender = await senderOf(first);
    const intents = Array.from({ length: 300 }, (_, nonce) => payment(sender, { nonce }));
    const answers = signAll(first.socketPath, intents).catch(() => "no answer");
    const before = statSync(journalPath(first.folder)).size;
    while (statSync(journalPath(first.folder)).size === before) await new Promise(setImmediate);
    await first.kill();
    expect(await answers).toBe("no answer");
    const recorded = readFileSync(journalPath(first.folder), "utf8")
      .split("\n")
      .filter((line) => line.includes('"signature"'));
    expect(recorded.length).toBeGreaterThan(0);
    const { socketPath } = await again(first);
    const { hash, nonce } = JSON.parse(recorded[0] as string) as { hash: string; nonce: number };
    expect(await signAll(socketPath, [payment(sender, { nonce })])).toMatchObject([
      { refused: "NONCE_USED" },
    ]);
    const signed = await signOne(socketPath, intents[nonce] as (typeof intents)[number]);
    expect(signed.hash).toBe(hash);
  });

  it("gives a nonce to one of the requests that arrive at once", async () => {
    const { socketPath, folder, ...rest } = await start();
    const sender = await senderOf({ socketPath, folder, ...rest });
    const intents = Array.from({ length: 24 }, () => payment(sender, { nonce: 3 }));
    const answers = await Promise.all(intents.map((intent) => signAll(socketPath, [intent])));
    const winners = answers.flat().filter((answer) => "bytes" in (answer as object));
    const refusals = answers.flat().filter((answer) => "refused" in (answer as object));
    expect([winners.length, refusals.length]).toEqual([1, 23]);
    const same = payment(sender, { nonce: 4 });
    const twins = await Promise.all(Array.from({ length: 24 }, () => signOne(socketPath, same)));
    expect(new Set(twins.map(({ bytes }) => bytes)).size).toBe(1);
    const lines = readFileSync(journalPath(folder), "utf8")
      .split("\n")
      .filter((line) => line.includes('"signature"'));
    expect(lines.length).toBe(2);
  });

  it("does not share its folder", async () => {
    const first = await start();
    await expect(spawnSigner({ folder: first.folder, keyFile: first.keyFile })).rejects.toThrow(
      `The process ${first.pid} is already using ${first.folder}.`,
    );
    await expect(spawnSigner({ socketPath: first.socketPath })).rejects.toThrow(
      `Another process is listening on ${first.socketPath}.`,
    );
  });

  it("ends without an answer if another process writes to its journal", async () => {
    const signer = await start();
    const sender = await senderOf(signer);
    writeFileSync(journalPath(signer.folder), "a line of another process\n", { flag: "a" });
    await expect(signOne(signer.socketPath, payment(sender))).rejects.toThrow();
    expect(await signer.exited).toBe(1);
    expect(signer.errors()).toContain("another process writes to it");
  });

  it.runIf(existsSync("/usr/bin/prlimit"))("ends without an answer if the disk takes no more", async () => {
    const signer = await start();
    const sender = await senderOf(signer);
    await signOne(signer.socketPath, payment(sender));
    const size = statSync(journalPath(signer.folder)).size;
    spawnSync("prlimit", ["--pid", String(signer.pid), `--fsize=${size + 100}`]);
    await expect(signOne(signer.socketPath, payment(sender, { nonce: 1 }))).rejects.toThrow();
    await signer.exited;
    const next = await again(signer);
    expect(next.errors()).toMatch(/incomplete line of 100 bytes|^$/);
    await signOne(next.socketPath, payment(sender, { nonce: 1 }));
  });

  it("ends with the process that started it", () => {
    const folder = mkdtempSync(join(tmpdir(), "signer-"));
    const place = ["--data", join(folder, "data"), "--key-file", join(folder, "key")];
    const args = [signerProgram, ...place, "--socket", join(folder, "socket"), "--create", "--with-parent"];
    expect(spawnSync(process.execPath, args, { input: "" }).status).toBe(0);
  });
});

describe("a request", () => {
  it("is refused if it is too large, malformed, empty or unknown", async () => {
    const { socketPath } = await start();
    const post = (content: string, path = "/sign") => call(socketPath, "POST", path, content);
    const statuses = [
      await post(JSON.stringify({ intents: ["x".repeat(2_000_000)] })).catch(() => ({ status: 413 })),
      await post("{"),
      await post(""),
      await post("null"),
      await post("[]"),
      await post(JSON.stringify({ intents: [] })),
      await post(JSON.stringify({ intents: {} })),
      await post(JSON.stringify({ intents: [{}], more: 1 })),
      await post(JSON.stringify({ intents: Array.from({ length: 501 }, () => ({})) })),
      await post(JSON.stringify({ wallets: [{ ...newWallet(), network: "bip122:1" }] }), "/addresses"),
      await post("{}", "/words"),
      await call(socketPath, "GET", "/sign"),
    ].map(({ status }) => status);
    expect(statuses).toEqual([413, 400, 400, 400, 400, 400, 400, 400, 400, 422, 404, 404]);
    expect((await call(socketPath, "GET", "/health")).status).toBe(200);
  });

  it("is answered in part if one of its intents is malformed", async () => {
    const signer = await start();
    const sender = await senderOf(signer);
    const content = JSON.stringify({ intents: [{ nonce: "x" }, toJson(payment(sender)), null] });
    const { body } = await call(signer.socketPath, "POST", "/sign", content);
    expect(body["answers"]).toMatchObject([
      { refused: "INTENT_INVALID" },
      { hash: expect.any(String) },
      { refused: "INTENT_INVALID" },
    ]);
  });

  it("cannot exceed the limits that the command line sets", async () => {
    const args = ["--max-fee-per-gas", "1", "--max-fee-per-gas", `${network}=20000000000`];
    const signer = await start({ args });
    const sender = await senderOf(signer);
    expect(await signAll(signer.socketPath, [payment(sender)])).toMatchObject([
      { refused: "FEE_ABOVE_LIMIT" },
    ]);
    await signOne(signer.socketPath, payment(sender, { maxFeePerGas: 20_000_000_000n }));
  });
});
