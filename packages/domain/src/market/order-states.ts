/**
 * The life of an order, in one table. The documentation's page and diagram and `GET /v1/order-states` come from it. Every effect of
 * the book is an event of it; see `orderEventsOf`.
 */
export const orderStates = {
  pending: { final: false, resting: false, meaning: "It is durable and has not reached the book yet." },
  open: { final: false, resting: true, meaning: "It rests in the book and nothing of it is filled." },
  partially_filled: { final: false, resting: true, meaning: "A part is filled and the rest is in the book." },
  filled: { final: true, resting: false, meaning: "All of it is filled." },
  cancelled: { final: true, resting: false, meaning: "It has ended with something not filled." },
  rejected: {
    final: true,
    resting: false,
    meaning: "It was refused before it could rest; nothing of it is filled.",
  },
} as const satisfies Record<string, { final: boolean; resting: boolean; meaning: string }>;

export type OrderState = keyof typeof orderStates;

/** What can happen to an order. */
export const orderEvents = ["rest", "fill_part", "fill", "amend", "cancel", "reject"] as const;

export type OrderEvent = (typeof orderEvents)[number];

/** Where each event leads from each state; what is not listed cannot happen. */
export const orderTransitions: Readonly<Record<OrderState, Partial<Record<OrderEvent, OrderState>>>> = {
  pending: {
    rest: "open",
    fill_part: "partially_filled",
    fill: "filled",
    cancel: "cancelled",
    reject: "rejected",
  },
  open: { fill_part: "partially_filled", fill: "filled", amend: "open", cancel: "cancelled" },
  partially_filled: {
    rest: "partially_filled",
    fill_part: "partially_filled",
    fill: "filled",
    amend: "partially_filled",
    cancel: "cancelled",
  },
  filled: {},
  cancelled: {},
  rejected: {},
};
