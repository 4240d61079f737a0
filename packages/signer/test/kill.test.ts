import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { spawnSigner } from "../src/index.js";
import type { SignedBytes } from "../src/signing/signing-core.js";
import { newWallet, payment } from "./intents.js";
import { addressOf, signAll } from "./socket.js";

const kills = Number(process.env["BURSAR_SIGNER_KILLS"] ?? 5);
/** Requests at a time, each with two transactions that want the same nonce. */
const clients = 4;

/** A client that asks until its signer is killed, and remembers what it was answered. */
async function askUntilKilled(
  socketPath: string,
  wallet: Parameters<typeof payment>[0],
  next: () => number,
  answered: Map<string, SignedBytes>,
  asked: ReturnType<typeof payment>[],
): Promise<void> {
  for (;;) {
    const nonce = next();
    const rivals = [payment(wallet, { nonce }), payment(wallet, { nonce })];
    asked.push(...rivals);
    const answers = await signAll(socketPath, rivals).catch(() => undefined);
    if (answers === undefined) return;
    for (const [index, answer] of (answers as SignedBytes[]).entries())
      if (answer.bytes !== undefined) answered.set(rivals[index]?.transactionId ?? "", answer);
  }
}

it("a signer that is killed while it signs gives every nonce to one transaction, and the same bytes again", async () => {
  let signer = await spawnSigner();
  const wallet = newWallet();
  const sender = { ...wallet, address: await addressOf(signer.socketPath, wallet) };
  const answered = new Map<string, SignedBytes>();
  const asked: ReturnType<typeof payment>[] = [];
  let nonce = 0;
  const next = () => nonce++;
  for (let kill = 0; kill < kills; kill += 1) {
    const { socketPath } = signer;
    const running = Array.from({ length: clients }, () =>
      askUntilKilled(socketPath, sender, next, answered, asked),
    );
    const enough = answered.size + 10 + ((kill * 7) % 30);
    while (answered.size < enough) await sleep(5);
    await sleep((kill * 3) % 20);
    await signer.kill();
    await Promise.all(running);
    signer = await spawnSigner(signer);
  }
  const signedNonces: number[] = [];
  for (let start = 0; start < asked.length; start += 200) {
    const batch = asked.slice(start, start + 200);
    const answers = (await signAll(signer.socketPath, batch)) as SignedBytes[];
    for (const [index, answer] of answers.entries()) {
      const intent = batch[index] as (typeof batch)[number];
      const before = answered.get(intent.transactionId);
      if (before !== undefined) expect(answer).toEqual(before);
      if (answer.bytes !== undefined) signedNonces.push(intent.nonce);
    }
  }
  expect(answered.size).toBeGreaterThan(0);
  expect(signedNonces.length).toBe(new Set(signedNonces).size);
  expect(signedNonces.length).toBe(nonce);
  await signer.stop();
});
