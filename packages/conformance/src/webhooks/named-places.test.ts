import { expect, it } from "vitest";
import type { Session } from "../engine/session.js";
import { isOfAnother, lookAt, placesOfEach } from "./named-places.js";
import type { Delivery } from "./receiver.js";

const payment = "conformance-payment";

/** Whether the second of two notifications is about something else than the payment. */
function isSecondOfAnother(...bodies: readonly [unknown, unknown]): boolean {
  const deliveries = bodies.map((json) => ({ headers: [], json }) as unknown as Delivery);
  const session = { receiver: { deliveries } } as unknown as Session;
  return isOfAnother(session, deliveries[1] as Delivery, [payment]);
}

it("a fee that names its payment is not about it", () => {
  expect(isSecondOfAnother({ id: payment }, { id: "fee", parent_id: payment })).toBe(true);
  expect(
    isSecondOfAnother({ id: payment, for: null }, { id: "fee", for: `/v1/transactions/${payment}` }),
  ).toBe(true);
  expect(isSecondOfAnother({ tx: { id: payment } }, { tx: { id: "fee" }, reference: payment })).toBe(true);
});

it("the name of a place decides between two that each have another name", () => {
  const [own, fee] = [
    { id: payment, parent_id: "group" },
    { id: "fee", parent_id: payment },
  ];
  expect(isSecondOfAnother(own, fee)).toBe(true);
  expect(isSecondOfAnother(fee, own)).toBe(false);
});

it("a transaction further on in a batch, or with an id of the notification beside it, is meant", () => {
  expect(isSecondOfAnother([{ id: payment }], [{ id: "another" }, { id: payment }])).toBe(false);
  expect(isSecondOfAnother({ id: "1", tx: payment }, { id: "2", tx: payment })).toBe(false);
  expect(isSecondOfAnother({ id: "1", tx: payment }, { id: "2", other: payment })).toBe(false);
});

it("a place that names each of several transactions is where notifications have ids", () => {
  const about = (order: number, attempt: number) =>
    ({ headers: [], json: { items: [{ order: `/v1/${order}` }], attempt } }) as unknown as Delivery;
  const deliveries = [about(1, 2), about(2, 1), about(3, 2)];
  const places = placesOfEach(deliveries, ["1", "2", "3"]);
  expect([...places]).toEqual(["body.items.*.order"]);
  expect(lookAt(about(3, 1), places, "1")).toEqual({ isThere: true, isNamed: false });
  expect(lookAt(about(3, 1), places, "3")).toEqual({ isThere: true, isNamed: true });
  expect(placesOfEach(deliveries, ["1", "2", "3", "4"]).size).toBe(0);
});
