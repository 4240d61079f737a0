import type { OrderState } from "@bursar/domain";
import { type Event as EventBody, showId } from "@bursar/protocol";
import type { Checkpoint } from "../audit/checkpoint.js";
import type { ChangeRequest, ChangeRequestStore } from "../change-requests/change-request.js";
import { summarizeChangeRequest } from "../change-requests/present-change-request.js";
import {
  type Order,
  type OrderDetails,
  type OrderFailure,
  type OrderStore,
  readDetails,
} from "../markets/order.js";
import type { PresentOrder } from "../markets/present-order.js";
import { presentTransaction } from "../transactions/present-transaction.js";
import type { TransactionKey } from "../transactions/settlement.js";
import {
  asOfVersion,
  type Transaction,
  type TransactionStore,
  type VerifiedTransactions,
} from "../transactions/transaction.js";
import { presentWallet } from "../wallets/present-wallet.js";
import {
  type FreezeDetails,
  readLoggedWalletState,
  type Wallet,
  type WalletStore,
} from "../wallets/wallet.js";
import { presentActor } from "./actor.js";
import type { EventStore, LoggedEvent } from "./event.js";

export interface PresentEventsDeps {
  readTransactions: TransactionStore["readTransactions"];
  wallets: Pick<WalletStore, "readWallets">;
  orders: Pick<OrderStore, "readAskedOrders">;
  presentOrder: PresentOrder;
  changeRequests: Pick<ChangeRequestStore, "readMany">;
}

/** An event is not presented by a presenter that reads verified subjects if something other than the service has written its subject. */
export class TamperedSubjectError extends Error {
  readonly subject: TransactionKey;

  constructor({ tenantId, id }: TransactionKey) {
    super(`the transaction ${showId("tx", id)} of the event was changed in the database`);
    this.subject = { tenantId, id };
  }
}

/** Returns the events in the order given. */
export type PresentEvents = (tenantId: string, logged: readonly LoggedEvent[]) => Promise<EventBody[]>;

/**
 * Builds the public representation of events. Each contains its subject as of that event, not as it is now. Everything comes from the
 * log and from columns that never change, so an event is the same every time it is read.
 */
export function createEventPresenter(deps: PresentEventsDeps): PresentEvents {
  return async (tenantId, logged) => {
    const subjectsOf = (kind: LoggedEvent["event"]) =>
      logged.filter(({ event }) => event === kind).map(({ subjectId }) => subjectId);
    const walletIds = subjectsOf("wallet.updated");
    const [transactions, wallets, orders, changeRequests] = await Promise.all([
      deps.readTransactions(tenantId, subjectsOf("transaction.updated")),
      walletIds.length === 0 ? [] : deps.wallets.readWallets(tenantId, walletIds),
      deps.orders.readAskedOrders(tenantId, subjectsOf("order.updated")),
      deps.changeRequests.readMany(tenantId, subjectsOf("change_request.updated")),
    ]);
    const subjects = {
      transactions: byId(transactions),
      wallets: byId(wallets),
      orders: byId(orders),
      changeRequests: byId(changeRequests),
    };
    return logged.map((entry) => ({
      event: entry.event,
      sequence: entry.sequence,
      occurred_at: entry.occurredAt.toISOString(),
      actor: presentActor(entry.actorId ?? null),
      data: presentData(entry, subjects, deps.presentOrder),
    }));
  };
}

/** For readers, and for deliveries, which are signed: what they say was requested is verified. */
export function createEventPresenters({
  transactions: { readTransactions, readVerified },
  ...deps
}: Omit<PresentEventsDeps, "readTransactions"> & {
  transactions: Pick<TransactionStore, "readTransactions"> & VerifiedTransactions;
}) {
  return {
    presentEvents: createEventPresenter({ ...deps, readTransactions }),
    presentVerified: createEventPresenter({ ...deps, readTransactions: readVerified }),
  };
}

interface Subjects {
  transactions: ReadonlyMap<string, Transaction>;
  wallets: ReadonlyMap<string, Wallet>;
  orders: ReadonlyMap<string, Order>;
  changeRequests: ReadonlyMap<string, ChangeRequest>;
}

function byId<Subject extends { id: string }>(found: readonly Subject[]): ReadonlyMap<string, Subject> {
  return new Map(found.map((subject) => [subject.id, subject]));
}

function presentData(
  entry: LoggedEvent,
  { transactions, wallets, orders, changeRequests }: Subjects,
  presentOrder: PresentOrder,
): EventBody["data"] {
  const previous_state = entry.previousState;
  switch (entry.event) {
    case "transaction.updated": {
      const transaction = found(transactions, entry);
      if (transaction.isTampered === true) throw new TamperedSubjectError(transaction);
      const shown = presentTransaction(asOfVersion(transaction, entry.version));
      // A request is not a version: a repeated delivery must not differ from the first.
      shown.cancel_request = null;
      return { transaction: shown, previous_state };
    }
    case "wallet.updated": {
      const before = readLoggedWalletState(entry.previousState);
      return {
        wallet: presentWallet(walletAsOfThen(found(wallets, entry), entry)),
        previous_state: before.state,
        previous_frozen: before.frozen,
      };
    }
    case "order.updated":
      return { order: presentOrder(orderAsOfThen(found(orders, entry), entry)), previous_state };
    case "change_request.updated": {
      const { version, failureCode } = entry;
      const state = entry.state as ChangeRequest["state"];
      const then = { ...found(changeRequests, entry), state, version, failureCode };
      return { change_request: summarizeChangeRequest(then), previous_state };
    }
    case "audit.checkpoint":
      return { checkpoint: entry.details as Checkpoint, previous_state };
    case "endpoint.disabled":
      return {
        webhook_endpoint: {
          id: showId("whe", entry.subjectId),
          object: "webhook_endpoint",
          version: entry.version,
          state: "disabled",
          disabled_reason: entry.failureCode ?? "",
        },
        previous_state,
      };
  }
}

/** The event holds every field of the order that it changed. */
function orderAsOfThen(order: Order, entry: LoggedEvent): Order {
  const { version, occurredAt } = entry;
  const progress = readDetails(entry.details as OrderDetails);
  const [state, failure] = [entry.state as OrderState, entry.failureCode as OrderFailure | null];
  return { ...order, step: { version, state, failure, occurredAt, ...progress } };
}

/** The address comes with the state `active`, and then never changes. */
function walletAsOfThen(
  wallet: Wallet,
  { state: logged, version, occurredAt, details }: LoggedEvent,
): Wallet {
  const then = readLoggedWalletState(logged);
  const address = then.state === "active" ? wallet.address : null;
  const frozenReason = (details as FreezeDetails | null | undefined)?.reason ?? null;
  return { ...wallet, ...then, frozenReason, address, version, updatedAt: occurredAt };
}

function found<Subject>(subjects: ReadonlyMap<string, Subject>, { subjectId, event }: LoggedEvent): Subject {
  const subject = subjects.get(subjectId);
  if (subject === undefined) throw new Error(`the subject ${subjectId} of an event ${event} is missing`);
  return subject;
}

export type ListEvents = (tenantId: string, after: number, limit: number) => Promise<EventBody[]>;

/** Lists the events of a tenant, one page at a time. */
export function createEventLister(events: EventStore, present: PresentEvents): ListEvents {
  return async (tenantId, after, limit) => present(tenantId, await events.listEvents(tenantId, after, limit));
}
