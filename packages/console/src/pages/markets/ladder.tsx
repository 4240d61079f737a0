import { compare, type LiveBook, type Order } from "@bursar/client";
import { Scroller } from "../../ui/tables/scroller";
import { TableHead } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";

const levelsShown = 12;
const columns = [
  { title: "Side" },
  { title: "Price", isNumber: true },
  { title: "Size", isNumber: true },
  { title: "Yours" },
];

/** The best levels of both sides, with the tenant's own orders marked. */
export function Ladder({ book, orders }: { book: LiveBook; orders: readonly Order[] }) {
  const ownAt = (side: Order["side"], price: string) =>
    orders.filter(
      (order) => order.side === side && order.price !== null && compare(order.price, price) === 0,
    );
  const row = (side: Order["side"]) =>
    function Level([price, size]: LiveBook["bids"][number]) {
      const own = ownAt(side, price);
      return (
        <tr key={price} data-side={side} data-own={own.length > 0}>
          <td>{side === "buy" ? "bid" : "ask"}</td>
          <td className="number">
            <Amount value={price} />
          </td>
          <td className="number">
            <Amount value={size} />
          </td>
          <td>
            {own.length > 0 && <strong>{own.length === 1 ? "your order" : `${own.length} of yours`}</strong>}
          </td>
        </tr>
      );
    };
  return (
    <Scroller label="Ladder">
      <table className="ladder">
        <caption className="visually-hidden">The best prices, asks above bids</caption>
        <TableHead columns={columns} />
        <tbody>
          {book.asks.slice(0, levelsShown).reverse().map(row("sell"))}
          {book.bids.slice(0, levelsShown).map(row("buy"))}
        </tbody>
      </table>
    </Scroller>
  );
}
