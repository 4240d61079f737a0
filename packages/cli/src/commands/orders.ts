import type { ListOrdersQuery, PlaceOrderBody } from "@bursar/client";
import type { Given } from "../parse/given.js";
import type { Command, Context } from "./command.js";
import { idempotencyKey, keyOf, listCommand, oneCommand, queryOf } from "./lists.js";

const columns = [
  "id",
  "state",
  "market",
  "side",
  "type",
  "price",
  "size",
  "filled",
  "reference",
  "created_at",
];
const states = ["pending", "open", "partially_filled", "filled", "cancelled", "rejected"];

/** The options of a new order that are fields of its body. */
const fields = [
  { name: "price", value: "price", about: "the limit; without it, it is a market order" },
  { name: "size", value: "amount", about: "the amount of the base asset" },
  { name: "quote-size", value: "amount", about: "for a market buy order: the most to spend" },
  {
    name: "time-in-force",
    value: "rule",
    about: "how long a limit order lives",
    choices: ["gtc", "ioc", "fok", "post_only"],
  },
  {
    name: "self-trade",
    value: "rule",
    about: "what happens if it would trade with an order of your own",
    choices: ["cancel_newest", "cancel_oldest", "cancel_both"],
  },
  {
    name: "wallet-id",
    value: "wallet",
    about: "the wallet that pays and receives; the primary wallet by default",
  },
  { name: "reference", value: "text", about: "your own reference" },
];

export const orderCommands: readonly Command[] = [
  {
    path: "order place",
    summary: "place an order",
    arguments: [
      { name: "side", about: "what to do", choices: ["buy", "sell"] },
      { name: "market", about: "such as ETH-USD" },
    ],
    options: [...fields, idempotencyKey],
    operations: ["POST /v1/orders"],
    movesMoney: true,
    run: placeOrder,
  },
  oneCommand({
    path: "order get",
    summary: "show an order",
    operation: "GET /v1/orders/{id}",
    id: "order",
    send: (bursar, id) => bursar.orders.get(id),
  }),
  listCommand<ListOrdersQuery>({
    path: "order list",
    summary: "list orders, newest first",
    operation: "GET /v1/orders",
    options: [
      { name: "market", value: "market", about: "only in this market" },
      { name: "state", value: "state", about: "only in this state", choices: states },
      { name: "side", value: "side", about: "only on this side", choices: ["buy", "sell"] },
      { name: "reference", value: "text", about: "only with this reference" },
      { name: "wallet-id", value: "wallet", about: "only of this wallet" },
    ],
    columns,
    read: (bursar, query) => bursar.orders.list(query),
  }),
  oneCommand({
    path: "order amend",
    summary: "make an open order smaller; it keeps its place in the book",
    operation: "PATCH /v1/orders/{id}",
    id: "order",
    options: [{ name: "size", value: "amount", about: "the new total size", required: true }],
    changes: true,
    send: (bursar, id, given) => bursar.orders.amend(id, { size: given.required("size") }),
  }),
  oneCommand({
    path: "order cancel",
    summary: "cancel an order",
    operation: "DELETE /v1/orders/{id}",
    id: "order",
    changes: true,
    send: (bursar, id) => bursar.orders.cancel(id),
  }),
];

async function placeOrder(
  { bursar, output, confirm, target, note }: Context,
  given: Given,
): Promise<undefined> {
  const [side, market] = [given.argument("side"), given.argument("market")];
  const own = queryOf(given, fields);
  const price = given.text("price");
  const size = given.text("size") ?? `for ${given.text("quote-size") ?? "?"}`;
  const at = price === undefined ? "at the market price" : `at ${price}`;
  await confirm(`Place an order to ${side} ${size} in ${market} ${at} at ${(await target()).url}?`);
  const body = { market, side, type: price === undefined ? "market" : "limit", ...own } as PlaceOrderBody;
  const placed = await (await bursar()).orders.place(body, keyOf(given));
  if (placed.lastResponse.replayed) note("It was placed before, with this idempotency key.");
  output.one(placed);
  return undefined;
}
