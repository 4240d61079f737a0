import { createSeededRandom } from "../../../src/markets/quotes.js";

/** What somebody at a market does next; orders of its own are named by how long ago they were placed. */
export type Deed =
  | { kind: "place"; body: Record<string, string> }
  | { kind: "cancel"; ago: number }
  | { kind: "amend"; ago: number; size: string };

/** An endless, repeatable mix around one price: most of it rests or crosses a little, and some of it is cancelled or amended. */
export function createRandomDeeds(seed: number, middle = 100): () => Deed {
  const random = createSeededRandom(seed);
  const whole = (max: number) => Math.floor(random() * max);
  const pick = <T>(values: readonly T[]) => values[whole(values.length)] as T;
  const size = () => ((1 + whole(300)) / 100).toFixed(2);
  return () => {
    const kind = whole(10);
    if (kind < 2) return { kind: "cancel", ago: whole(8) };
    if (kind < 3) return { kind: "amend", ago: whole(5), size: size() };
    const side = pick(["buy", "sell"] as const);
    if (kind < 4)
      return {
        kind: "place",
        body:
          side === "buy"
            ? { side, type: "market", quote_size: String(1 + whole(500)) }
            : { side, type: "market", size: size() },
      };
    return {
      kind: "place",
      body: {
        side,
        price: String(middle + whole(11) - 5),
        size: size(),
        time_in_force: pick(["gtc", "gtc", "gtc", "ioc", "fok", "post_only"]),
        self_trade: pick(["cancel_newest", "cancel_oldest", "cancel_both"]),
      },
    };
  };
}
