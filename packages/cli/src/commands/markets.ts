import type { Level, ListTradesQuery } from "@bursar/client";
import type { Given } from "../parse/given.js";
import { safe } from "../terminal/safe-text.js";
import { bookLines } from "./book-lines.js";
import type { Command, Context } from "./command.js";
import { listCommand } from "./lists.js";

const market = { name: "market", about: "such as ETH-USD" };
const tradeColumns = ["sequence", "price", "size", "taker_side", "occurred_at"];

const listTrades = listCommand<ListTradesQuery>({
  path: "trades",
  summary: "list the trades of a market, newest first, or follow them",
  operation: "GET /v1/markets/{market}/trades",
  arguments: [market],
  columns: tradeColumns,
  read: (bursar, query, given) => bursar.trades.list(given.argument("market"), query),
});

export const marketCommands: readonly Command[] = [
  {
    path: "orderbook",
    summary: "show the order book of a market, or follow it",
    arguments: [{ ...market, optional: true }],
    options: [
      { name: "depth", value: "count", about: "the number of prices on each side; 10 by default" },
      { name: "watch", about: "show each change until Ctrl-C" },
    ],
    operations: ["GET /v1/orderbook", "GET /v1/stream"],
    watches: true,
    run: showOrderbook,
  },
  {
    ...listTrades,
    options: [...(listTrades.options ?? []), { name: "watch", about: "show new trades until Ctrl-C" }],
    operations: ["GET /v1/markets/{market}/trades", "GET /v1/stream"],
    watches: true,
    run: (context, given) =>
      given.flag("watch") ? followTrades(context, given) : listTrades.run(context, given),
  },
];

interface Book {
  market: string;
  sequence: number;
  bids: readonly Level[];
  asks: readonly Level[];
}

async function showOrderbook(context: Context, given: Given): Promise<undefined> {
  const bursar = await context.bursar();
  const depth = given.number("depth", { min: 1, max: 1000 }) ?? 10;
  const [name] = given.all("market");
  const book = await bursar.orderbook.get({ depth, ...(name === undefined ? {} : { market: name }) });
  if (!given.flag("watch")) {
    show(book, depth, context);
    return undefined;
  }
  let drawn = 0;
  for await (const live of bursar.orderbook.live(book.market, { signal: context.io.signal })) {
    // The lines of the last book are replaced; in a pipe, each book is a line of its own.
    if (context.output.format === "table" && drawn > 0) context.io.out(`\u001b[${drawn}A\u001b[J`);
    drawn = show(live, depth, context);
  }
  return undefined;
}

/** Returns the number of lines. */
function show(book: Book, depth: number, { output, io }: Context): number {
  const { market: name, sequence } = book;
  const [bids, asks] = [book.bids.slice(0, depth), book.asks.slice(0, depth)];
  if (output.format === "json" || output.format === "jsonl") {
    output.item({ market: name, sequence, bids, asks }, () => "");
    return 0;
  }
  if (output.format === "plain") {
    const sides: [string, readonly Level[]][] = [
      ["ask", asks.toReversed()],
      ["bid", bids],
    ];
    for (const [side, levels] of sides)
      for (const level of levels) io.out(`${side}\t${level.map(safe).join("\t")}\n`);
    return 0;
  }
  const lines = bookLines({ name, sequence, bids, asks }, output.style, io.width());
  io.out(`${lines.join("\n")}\n`);
  return lines.length;
}

async function followTrades({ bursar, output, note, io }: Context, given: Given): Promise<undefined> {
  const followed = (await bursar()).trades.follow(given.argument("market"), { signal: io.signal });
  for await (const found of followed) {
    if (found.type === "gap") note(`Trades are missing (${found.reason}).`);
    else {
      const { sequence, price, size, taker_side: side, occurred_at: at } = found.trade;
      output.item(found.trade, () => safe([at, `#${sequence}`, side, size, `at ${price}`].join("  ")));
    }
  }
  return undefined;
}
