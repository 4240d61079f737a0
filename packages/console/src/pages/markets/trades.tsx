import type { Trade } from "@bursar/client";
import { useEffect, useState } from "react";
import { bursar } from "../../api/bursar";
import { lacksScope } from "../../api/queries";
import { createBackoff, pause } from "../../live/backoff";
import { useMayFollow } from "../../live/not-live";
import { Problem } from "../../ui/panels/problem";
import { SimpleTable } from "../../ui/tables/simple-table";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { Time } from "../../ui/values/time";
import { confirmEveryMs } from "./book-watch";
import { CandleChart } from "./candle-chart";

const keptMax = 1000;
const shownMax = 25;

/** The trades of a market as they happen, as candles and as a table. */
export function Trades({ market, quote }: { market: string; quote: string }) {
  const { trades, problem } = useTrades(market);
  return (
    <section className="card stack" aria-labelledby="trades">
      <h2 id="trades">Trades</h2>
      {problem !== undefined && <Problem error={problem} />}
      <CandleChart trades={trades} quote={quote} />
      {trades.length > 0 && (
        <SimpleTable
          caption="Latest trades, newest first"
          isShort
          rows={trades.slice(0, shownMax)}
          keyOf={({ id }) => id}
          columns={columns}
        />
      )}
    </section>
  );
}

const columns: readonly Column<Trade>[] = [
  { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} /> },
  { title: "Taker", cell: ({ taker_side }) => taker_side },
  { title: "Price", isNumber: true, cell: ({ price }) => <Amount value={price} /> },
  { title: "Size", isNumber: true, cell: ({ size }) => <Amount value={size} /> },
];

/** Newest first. Those that were traded while the list was read come twice, and count once. */
function useTrades(market: string): { trades: readonly Trade[]; problem: unknown } {
  const [state, setState] = useState<{ trades: readonly Trade[]; problem: unknown }>({
    trades: [],
    problem: undefined,
  });
  const mayFollow = useMayFollow();
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    let known = new Map<number, Trade>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      const trades = [...known.values()]
        .sort((one, other) => other.sequence - one.sequence)
        .slice(0, keptMax);
      known = new Map(trades.map((trade) => [trade.sequence, trade]));
      setState({ trades, problem: undefined });
    };
    const follow = async () => {
      const { data } = await bursar.trades.list(market, { limit: 200 }, { signal }).page();
      for (const trade of data) known.set(trade.sequence, trade);
      show();
      if (!mayFollow) return await pause(confirmEveryMs, signal);
      const since = data[0]?.sequence;
      for await (const found of bursar.trades.follow(market, { signal, since })) {
        if (found.type === "gap") {
          // Those that are shown may never have happened.
          if (found.reason === "epoch_changed") known = new Map();
          return;
        }
        known.set(found.sequence, found.trade);
        timer ??= setTimeout(show, 200);
      }
    };
    const run = async () => {
      const backoff = createBackoff();
      while (!signal.aborted) {
        try {
          await follow();
        } catch (problem) {
          if (signal.aborted) return;
          setState((old) => ({ ...old, problem }));
          if (lacksScope(problem)) return;
          // A failure can come at once, without a request: without a pause nothing else would run.
          if (!mayFollow) await backoff.wait(signal);
        }
        if (mayFollow) await backoff.wait(signal);
      }
    };
    void run();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [market, mayFollow]);
  return state;
}
