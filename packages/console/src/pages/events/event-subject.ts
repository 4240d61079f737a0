import type { BursarEvent } from "@bursar/client";

/** The id and the state of what an event is about. A checkpoint is about the audit log, which has no id. */
export function subjectOf({ event, data }: BursarEvent): { id: string | undefined; state: string } {
  switch (event) {
    case "transaction.updated":
      return data.transaction;
    case "wallet.updated":
      return { id: data.wallet.id, state: data.wallet.frozen ? "frozen" : data.wallet.state };
    case "order.updated":
      return data.order;
    case "endpoint.disabled":
      return data.webhook_endpoint;
    case "change_request.updated":
      return data.change_request;
    case "audit.checkpoint":
      return { id: undefined, state: `entry ${data.checkpoint.number}` };
  }
}
