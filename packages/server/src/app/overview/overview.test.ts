import { createAssetRegistry } from "@bursar/domain";
import { describe, expect, it } from "vitest";
import { createOverview, type OverviewStore, type TimeRange } from "./overview.js";

const hourMs = 3_600_000;
const nowMs = Date.parse("2026-11-17T12:00:00Z");

describe("the overview", () => {
  /** The time that is read from the table. */
  const readFor = async (range: Partial<TimeRange>): Promise<TimeRange> => {
    const read: TimeRange[] = [];
    const store: OverviewStore = {
      listEntries: async () => [],
      listPoints: async () => [],
      listOpen: async () => [],
      listPeriods: async ({ from, to }) => {
        read.push({ from, to });
        return [];
      },
      readLag: async () => ({ events: 0, seconds: 0 }),
    };
    const { showOverview } = createOverview({
      store,
      assets: createAssetRegistry([]),
      readWallet: async () => ({ refused: "WALLET_NOT_FOUND" }),
      now: () => nowMs,
    });
    await showOverview({
      tenantId: "t",
      period: "hour",
      asset: "USD",
      from: undefined,
      to: undefined,
      ...range,
    });
    return read[0] ?? { from: undefined, to: undefined };
  };
  const at = (hours: number) => new Date(nowMs + hours * hourMs);

  it("reads at most the last 400 periods of a range, whatever was asked for", async () => {
    expect(await readFor({})).toEqual({ from: at(-400), to: undefined });
    expect(await readFor({ from: at(-9000) })).toMatchObject({ from: at(-400) });
    expect(await readFor({ from: at(-9000), to: at(-1000) })).toEqual({ from: at(-1400), to: at(-1000) });
    expect(await readFor({ from: at(-5), to: at(1_000_000) })).toMatchObject({ from: at(-5) });
  });
});
