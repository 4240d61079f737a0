import { BursarError, type FollowedEvent, type Transaction } from "@bursar/client";
import { describe, expect, it, vi } from "vitest";
import { LiveList, type LiveSource, loadEveryMs, rowsMax } from "../../live/live-list";
import { padded } from "../../ui/values/asset-decimals";
import { transactionsCsv } from "./csv";
import { readFilters } from "./filters";
import { transactionRows } from "./transaction-rows";

const transaction = (number: number, version = 1, state: Transaction["state"] = "accepted") =>
  ({
    id: `txn_${String(number).padStart(6, "0")}`,
    version,
    state,
    asset: "USD",
    reference: `r${number}`,
    source: { wallet_id: "wlt_a" },
    destination: { wallet_id: "wlt_b" },
  }) as Transaction;

const updated = (sequence: number, of: Transaction) =>
  ({
    type: "event",
    sequence,
    epoch: "1",
    event: { event: "transaction.updated", data: { transaction: of } },
  }) as FollowedEvent;

type Follow = NonNullable<LiveSource<Transaction>["follow"]>;

/** Plays loads and streams one after the other, and then stays silent. */
function play(
  loads: Transaction[][],
  streams: FollowedEvent[][],
): LiveSource<Transaction> & { since: number[]; follow: Follow } {
  const since: number[] = [];
  return {
    since,
    load: async () => ({ rows: loads.shift() ?? [], isCut: false, sequence: since.length * 10, epoch: "1" }),
    follow: async function* (from, _epoch, signal) {
      since.push(from);
      const events = streams.shift();
      yield* events ?? [];
      if (streams.length === 0)
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  };
}

async function run(
  source: LiveSource<Transaction>,
  act: (list: LiveList<Transaction>) => Promise<void>,
  filters = {},
): Promise<void> {
  const list = new LiveList(source, transactionRows(filters));
  const ending = new AbortController();
  const running = list.run(ending.signal);
  try {
    await act(list);
  } finally {
    ending.abort();
    await running;
  }
}

const idsOf = (list: LiveList<Transaction>) => list.state().rows.map(({ id, version }) => `${id}:${version}`);

describe("the live list", () => {
  it("shows new ones first, changes in place, and drops older versions", async () => {
    const stream = [
      updated(1, transaction(3)),
      updated(2, transaction(1, 2, "completed")),
      updated(3, transaction(2, 1)),
    ];
    await run(play([[transaction(1), transaction(2, 2)]], [stream]), async (list) => {
      await vi.waitFor(() => expect(idsOf(list)).toEqual(["txn_000003:1", "txn_000002:2", "txn_000001:2"]));
    });
  });

  it("is never live without the rows that it has read", async () => {
    await run(play([[transaction(1)]], []), async (list) => {
      const seen: string[] = [];
      list.subscribe(() => seen.push(`${list.state().connection} ${list.state().rows.length}`));
      await vi.waitFor(() => expect(seen).not.toEqual([]));
      expect(seen).toEqual(["live 1"]);
    });
  });

  it("stands still while it is paused, and counts what waits", async () => {
    let next = () => {};
    const source: LiveSource<Transaction> = {
      load: async () => ({ rows: [transaction(1)], isCut: false, sequence: 0, epoch: "1" }),
      follow: async function* (_since, _epoch, signal) {
        await new Promise<void>((resolve) => {
          next = resolve;
        });
        yield updated(1, transaction(2));
        yield updated(2, transaction(2, 2));
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    };
    await run(source, async (list) => {
      await vi.waitFor(() => expect(idsOf(list)).toEqual(["txn_000001:1"]));
      list.pause(true);
      next();
      await vi.waitFor(() => expect(list.state().waiting).toBe(1));
      expect(idsOf(list)).toEqual(["txn_000001:1"]);
      list.pause(false);
      expect(idsOf(list)).toEqual(["txn_000002:2", "txn_000001:1"]);
    });
  });

  it("counts what comes by a reading while it is paused", async () => {
    const gap: FollowedEvent = { type: "gap", reason: "expired", from: 5, to: 6, epoch: "1" };
    let lose = () => {};
    const cut = new Promise<void>((resolve) => {
      lose = resolve;
    });
    const source = play([[transaction(1)], [transaction(3), transaction(2), transaction(1)]], [[gap], []]);
    const { follow } = source;
    source.follow = async function* (...position) {
      await cut;
      yield* follow(...position);
    };
    await run(source, async (list) => {
      await vi.waitFor(() => expect(idsOf(list)).toEqual(["txn_000001:1"]));
      list.pause(true);
      lose();
      await vi.waitFor(() => expect(list.state().waiting).toBe(2));
      expect(idsOf(list)).toEqual(["txn_000001:1"]);
      list.pause(false);
      expect(list.state()).toMatchObject({ waiting: 0, rows: [{}, {}, {}] });
    });
  });

  it("reads everything again after a gap", async () => {
    const gap: FollowedEvent = { type: "gap", reason: "epoch_changed", from: 5, to: undefined, epoch: "2" };
    const source = play([[transaction(9)], [transaction(1)]], [[gap], []]);
    await run(source, async (list) => {
      await vi.waitFor(() => expect(idsOf(list)).toEqual(["txn_000001:1"]));
      expect(source.since).toEqual([0, 10]);
    });
  });

  it("waits longer each time if every stream begins with a gap", async () => {
    const gap: FollowedEvent = { type: "gap", reason: "expired", from: 5, to: 6, epoch: "1" };
    let loads = 0;
    const source: LiveSource<Transaction> = {
      load: async () => {
        loads += 1;
        return { rows: [], isCut: false, sequence: 0, epoch: "1" };
      },
      follow: async function* () {
        yield gap;
      },
    };
    await run(source, async (list) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      expect(loads).toBeGreaterThan(1);
      expect(loads).toBeLessThanOrEqual(3);
      expect(list.state().connection).toBe("interrupted");
    });
  });

  it("removes what no longer matches the filters", async () => {
    const source = play(
      [[transaction(1), transaction(2, 1, "completed")]],
      [[updated(1, transaction(1, 2, "completed"))]],
    );
    await run(
      source,
      async (list) => {
        await vi.waitFor(() => expect(list.state().connection).toBe("live"));
        await vi.waitFor(() => expect(idsOf(list)).toEqual([]));
      },
      { state: "accepted" },
    );
  });

  it("keeps a bounded number in memory", async () => {
    const stream = Array.from({ length: rowsMax * 3 }, (_, number) =>
      updated(number + 1, transaction(number)),
    );
    await run(play([[]], [stream]), async (list) => {
      await vi.waitFor(() => expect(list.state().rows[0]?.reference).toBe(`r${rowsMax * 3 - 1}`));
      expect(list.state().rows).toHaveLength(rowsMax);
      expect(list.state().isCut).toBe(true);
    });
  });

  it("is loaded again and again if it may not be followed", async () => {
    vi.useFakeTimers();
    try {
      const source = { ...play([[transaction(1)], [transaction(2), transaction(1)]], []), follow: undefined };
      await run(source, async (list) => {
        await vi.advanceTimersByTimeAsync(0);
        expect([list.state().connection, idsOf(list)]).toEqual(["not live", ["txn_000001:1"]]);
        await vi.advanceTimersByTimeAsync(loadEveryMs);
        expect(idsOf(list)).toEqual(["txn_000002:1", "txn_000001:1"]);
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not ask again for a stream that is refused for a scope", async () => {
    const details = { message: "no", status: 403, outcome: "refused", attempts: 1 } as const;
    const list = new LiveList(
      {
        ...play([[transaction(1)]], []),
        follow: () => {
          throw new BursarError({ code: "INSUFFICIENT_SCOPE", ...details });
        },
      },
      transactionRows({}),
    );
    await list.run(new AbortController().signal);
    expect(list.state()).toMatchObject({
      connection: "interrupted",
      problem: { code: "INSUFFICIENT_SCOPE" },
    });
  });

  it("says that a lost connection is interrupted until the stream goes on", async () => {
    let tell: (isConnected: boolean) => void = () => undefined;
    const silent = play([[transaction(1)]], []);
    const source: LiveSource<Transaction> = {
      ...silent,
      follow: (since, epoch, signal, onConnection) => {
        tell = onConnection;
        return silent.follow(since, epoch, signal, onConnection);
      },
    };
    await run(source, async (list) => {
      await vi.waitFor(() => expect(silent.since).toHaveLength(1));
      tell(false);
      expect(list.state()).toMatchObject({ connection: "interrupted", rows: [{ reference: "r1" }] });
      tell(true);
      expect(list.state().connection).toBe("live");
    });
  });

  it("says from the beginning that there are older rows than it has read", async () => {
    const source = {
      ...play([], [[]]),
      load: async () => ({ rows: [], isCut: true, sequence: 0, epoch: "1" }),
    };
    await run(source, async (list) => {
      await vi.waitFor(() => expect(list.state().connection).toBe("live"));
      expect(list.state().isCut).toBe(true);
    });
  });
});

describe("filters of the address", () => {
  it("leaves out what is not a filter", () => {
    expect(
      readFilters({
        state: "nonsense",
        asset: 5,
        wallet: "wlt_1",
        __proto__: { reference: "x" },
        other: "1",
      }),
    ).toEqual({
      wallet: "wlt_1",
    });
  });
});

describe("the file for spreadsheets", () => {
  it("contains no formula and no second row", () => {
    const hostile = {
      ...transaction(1),
      reference: '=HYPERLINK("x")\r\nnext',
      amount: "5",
      created_at: "t",
      kind: "transfer",
      created_by: null,
    } as Transaction;
    const names = { wallets: new Map([["wlt_a", "=1+1"]]), clients: new Map(), labels: new Map() };
    const amountText = (value: string, asset: string) => padded(value, asset === "USD" ? 2 : undefined);
    const [, row, ...rest] = transactionsCsv([hostile], { ...names, amountText }).split("\r\n");
    expect(row).toContain(",USD,5.00,");
    expect(row).toContain(`"'=HYPERLINK(""x"")`);
    expect(rest).toEqual([expect.stringMatching(/^next",wlt_a,wlt_b,,'=1\+1,,,/), ""]);
  });
});
