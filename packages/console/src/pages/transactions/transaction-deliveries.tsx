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
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ state }) => state === "pending") === true ? 5000 : false,
  });
  return (
    <section className="stack" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Loaded query={query}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="quiet">No endpoint was notified.</p>
          ) : (
            <SimpleTable
              caption="Deliveries"
              rows={deliveries}
              keyOf={({ id }) => id}
              columns={deliveryColumns}
            />
          )
        }
      </Loaded>
    </section>
  );
}

/** Newest first. */
async function readDeliveries(id: string, signal: AbortSignal): Promise<WebhookDeliverySummary[]> {
  const events = await bursar.events
    .list({ subject_id: id, order: "desc", limit: eventsMax }, { signal })
    .page();
  const pages = await Promise.all(
    events.data.map(({ sequence }) =>
      bursar.webhookDeliveries.list({ sequence, limit: deliveriesMax }, { signal }).page(),
    ),
  );
  return pages.flatMap(({ data }) => data);
}
