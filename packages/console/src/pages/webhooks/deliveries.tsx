import type { ListWebhookDeliveriesQuery } from "@bursar/client";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useRefreshOnEvents } from "../../live/use-refresh-on-events";
import { SelectField } from "../../ui/forms/text-field";
import { Empty } from "../../ui/panels/empty";
import { PagedTable } from "../../ui/tables/paged-table";
import { deliveryColumns } from "./delivery-columns";

type State = NonNullable<ListWebhookDeliveriesQuery["state"]>;
const states: readonly State[] = ["pending", "delivered", "exhausted"];

/** The deliveries to one endpoint, or to all, newest first. */
export function Deliveries({ endpointId }: { endpointId?: string }) {
  const [state, setState] = useState<State | "">("");
  useRefreshOnEvents([["webhooks", "deliveries"]]);
  return (
    <>
      <div className="narrow">
        <SelectField label="State" value={state} onValue={(value) => setState(value as State | "")}>
          <option value="">All</option>
          {states.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      </div>
      <PagedTable
        caption="Deliveries, newest first"
        queryKey={["webhooks", "deliveries", endpointId, state]}
        list={(position, options) =>
          bursar.webhookDeliveries.list(
            {
              ...position,
              ...(endpointId === undefined ? {} : { endpoint_id: endpointId }),
              ...(state === "" ? {} : { state }),
            },
            options,
          )
        }
        columns={deliveryColumns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={
          <Empty title="No deliveries">
            {state === ""
              ? "Events that happen from now on appear here. Older ones can be replayed."
              : "No delivery is in this state."}
          </Empty>
        }
      />
    </>
  );
}
