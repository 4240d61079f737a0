import type { Order } from "@bursar/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { Curl } from "../../ui/panels/curl";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { ChoiceFilter } from "../../ui/tables/choice-filter";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { TextFilters } from "../../ui/tables/text-filter";
import { orderColumns } from "./order-columns";
import { type OrderFilters, readOrderFilters, sides, states } from "./order-filters";

const texts = [
  ["market", "Market, such as ETH-USD"],
  ["reference", "Reference, in full"],
] as const;

/** The orders of the tenant, also those that have ended. */
export function OrdersPage() {
  const filters = useSearch({
    from: "/orders",
    select: (search) => readOrderFilters({ ...search }),
    structuralSharing: true,
  });
  const navigate = useNavigate();
  const set = (name: keyof OrderFilters, value = "") => {
    const { [name]: _, ...others } = filters;
    const search = (value === "" ? others : { ...others, [name]: value }) as OrderFilters;
    void navigate({ to: "/orders", search, replace: true });
  };
  return (
    <>
      <PageHead title="Orders" />
      <search className="filters">
        <ChoiceFilter
          label="State"
          value={filters.state}
          options={states}
          onChange={(value) => set("state", value)}
        />
        <ChoiceFilter
          label="Side"
          value={filters.side}
          options={sides}
          onChange={(value) => set("side", value)}
        />
        <TextFilters names={texts} filters={filters} onChange={set} />
      </search>
      <PagedTable
        caption="Orders, newest first"
        queryKey={["orders", "list", filters]}
        list={(position, options) => bursar.orders.list({ ...filters, ...position }, options)}
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={5000}
        empty={
          <Empty title="No orders">
            {Object.keys(filters).length === 0
              ? "Orders are placed on the page of the markets, and stay here when they have ended."
              : "No order matches these filters. Remove one to see more."}
          </Empty>
        }
      />
      <Curl method="GET" path="/v1/orders" />
    </>
  );
}

const market: Column<Order> = { title: "Market", cell: ({ market }) => market };
const columns = [...orderColumns.slice(0, -2), market, ...orderColumns.slice(-2)];
