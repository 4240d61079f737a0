import { expect, it } from "vitest";
import type { ChainUnit } from "../../../app/chain/chain-store.js";
import { type DriverContext, inUnit } from "../driver/driver-context.js";
import { doubtInUnit } from "./doubt-wallets.js";

/** Doubts a wallet in an SQL transaction, and returns what was reported until its end and afterwards. */
async function doubt(commit: () => Promise<void>) {
  const reports: string[] = [];
  const unit = { doubtWallets: async () => true } satisfies Partial<ChainUnit> as unknown as ChainUnit;
  const context = {
    network: { network: "eip155:1" },
    store: {
      unitOfWork: async (_: unknown, work: (given: ChainUnit) => Promise<unknown>) => {
        await work(unit);
        reports.push("end");
        await commit();
      },
    },
    recorder: { now: () => 0 },
    onDoubted: () => reports.push("doubted"),
  } as unknown as DriverContext;
  const position = { lease: { network: "eip155:1", holder: "holder", fence: 1 }, tipHash: undefined };
  const wallets = [{ tenantId: "tenant", walletId: "wallet" }];
  await inUnit(context, position as never, (given) => doubtInUnit(context, given, wallets)).catch(
    () => undefined,
  );
  return reports;
}

it("reports a doubt when it is committed", async () => {
  expect(await doubt(async () => undefined)).toEqual(["end", "doubted"]);
});

it("reports none that was rolled back", async () => {
  const lost = async () => {
    throw new Error("The lease is lost.");
  };
  expect(await doubt(lost)).toEqual(["end"]);
});
