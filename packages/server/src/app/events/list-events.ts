import { type Event as EventBody, showId } from "@bursar/protocol";
import { presentTransaction } from "../transactions/present-transaction.js";
import { asOfVersion, type TransactionStore } from "../transactions/transaction.js";
import type { EventStore, LoggedEvent } from "./event.js";

export interface ListEventsDeps {
  events: EventStore;
  transactions: Pick<TransactionStore, "readTransactions">;
}

export type ListEvents = (tenantId: string, after: bigint, limit: number) => Promise<EventBody[]>;

/** The log as its readers see it: each event with its subject as it was right after that event, not as it is now. */
export function createEventLister({ events, transactions }: ListEventsDeps): ListEvents {
  return async (tenantId, after, limit) => {
    const logged = await events.listEvents(tenantId, after, limit);
    const ids = logged
      .filter(({ event }) => event === "transaction.updated")
      .map(({ subjectId }) => subjectId);
    const subjects = new Map(
      (await transactions.readTransactions(tenantId, ids)).map((found) => [found.id, found]),
    );
    return logged.map((entry) => {
      const subject = subjects.get(entry.subjectId);
      if (subject === undefined) return present(entry, { wallet: presentWallet(entry) });
      return present(entry, { transaction: presentTransaction(asOfVersion(subject, entry.version)) });
    });
  };
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
