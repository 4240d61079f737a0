import type { Transaction, WebhookDeliverySummary } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Loaded } from "../../ui/panels/loaded";
import { SimpleTable } from "../../ui/tables/simple-table";
import { deliveryColumns } from "../webhooks/delivery-columns";

const eventsMax = 20;
const deliveriesMax = 50;

/** The webhooks about the transaction: of each of its events, those to all endpoints. */
export function TransactionDeliveries({ transaction: { id, version } }: { transaction: Transaction }) {
  const query = useQuery({
    queryKey: ["transaction-deliveries", id, version],
    queryFn: ({ signal }) => readDeliveries(id, signal),
    // One request for the events and one for each of them.
    refetchInterval: ({ state: { data } }) =>
      data?.deliveries.some(({ state }) => state === "pending") === true ? 2000 * (1 + data.events) : false,
  });
  return (
    <section className="stack" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Loaded query={query}>
        {({ deliveries, isCut }) => (
          <>
            {deliveries.length === 0 ? (
              <p className="quiet">No endpoint was notified.</p>
            ) : (
              <SimpleTable
                caption="Deliveries"
                rows={deliveries}
                keyOf={({ id }) => id}
                columns={deliveryColumns}
              />
            )}
            {isCut && (
              <p className="quiet">
                There are more: these are the deliveries of the last {eventsMax} events, at most{" "}
                {deliveriesMax} of each.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface ReadDeliveries {
  /** Newest first. */
  deliveries: WebhookDeliverySummary[];
  /** How many events were asked for. */
  events: number;
  isCut: boolean;
}

async function readDeliveries(id: string, signal: AbortSignal): Promise<ReadDeliveries> {
  const events = await bursar.events
    .list({ subject_id: id, order: "desc", limit: eventsMax }, { signal })
    .page();
  const pages = await Promise.all(
    events.data.map(({ sequence }) =>
      bursar.webhookDeliveries.list({ sequence, limit: deliveriesMax }, { signal }).page(),
    ),
  );
  return {
    deliveries: pages.flatMap(({ data }) => data),
    events: events.data.length,
    isCut: events.has_more || pages.some(({ next_cursor }) => next_cursor !== null),
  };
}
