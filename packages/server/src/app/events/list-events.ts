import type { OrderState } from "@bursar/domain";
import { type Event as EventBody, showId } from "@bursar/protocol";
import type { Order, OrderFailure, OrderStore } from "../markets/order.js";
import { type OrderDetails, readDetails } from "../markets/order-details.js";
import type { PresentOrder } from "../markets/present-order.js";
import { presentTransaction } from "../transactions/present-transaction.js";
import { asOfVersion, type TransactionStore } from "../transactions/transaction.js";
import type { EventStore, LoggedEvent } from "./event.js";

export interface ListEventsDeps {
  events: EventStore;
  transactions: Pick<TransactionStore, "readTransactions">;
  orders: Pick<OrderStore, "readAskedOrders">;
  presentOrder: PresentOrder;
}

export type ListEvents = (tenantId: string, after: bigint, limit: number) => Promise<EventBody[]>;

/** The log as its readers see it: each event with its subject as it was right after that event, not as it is now. */
export function createEventLister({
  events,
  transactions,
  orders,
  presentOrder,
}: ListEventsDeps): ListEvents {
  return async (tenantId, after, limit) => {
    const logged = await events.listEvents(tenantId, after, limit);
    const idsOf = (kind: LoggedEvent["event"]) =>
      logged.filter(({ event }) => event === kind).map(({ subjectId }) => subjectId);
    const byId = <Subject extends { id: string }>(found: readonly Subject[]) =>
      new Map(found.map((subject) => [subject.id, subject]));
    const knownTransactions = byId(
      await transactions.readTransactions(tenantId, idsOf("transaction.updated")),
    );
    const knownOrders = byId(await orders.readAskedOrders(tenantId, idsOf("order.updated")));
    return logged.map((entry) => {
      const transaction = knownTransactions.get(entry.subjectId);
      if (transaction !== undefined)
        return present(entry, { transaction: presentTransaction(asOfVersion(transaction, entry.version)) });
      const order = knownOrders.get(entry.subjectId);
      if (order !== undefined) return present(entry, { order: presentOrder(asOfEvent(order, entry)) });
      return present(entry, { wallet: presentWallet(entry) });
    });
  };
}

/** An event says all that an order has become by it. */
function asOfEvent(order: Order, { version, state, failureCode, occurredAt, details }: LoggedEvent): Order {
  const progress = readDetails(details as OrderDetails);
  const failure = failureCode as OrderFailure | null;
  return { ...order, step: { version, state: state as OrderState, failure, occurredAt, ...progress } };
}

function present(
  { event, sequence, occurredAt, previousState }: LoggedEvent,
  subject: Partial<EventBody["data"]>,
): EventBody {
  return {
    event,
    sequence: Number(sequence),
    occurred_at: occurredAt.toISOString(),
    data: { ...subject, previous_state: previousState },
  };
}

function presentWallet({ subjectId, version, state }: LoggedEvent) {
  return { id: showId("wlt", subjectId), version, state };
}
