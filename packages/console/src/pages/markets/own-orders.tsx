import type { Order } from "@bursar/client";
import { Empty } from "../../ui/panels/empty";
import { SimpleTable } from "../../ui/tables/simple-table";
import type { Column } from "../../ui/tables/table-head";
import { OrderActions } from "../orders/order-actions";
import { orderColumns } from "../orders/order-columns";

/** The tenant's open orders, which can be made smaller or cancelled. */
export function OwnOrders({ orders, mayWrite }: { orders: readonly Order[]; mayWrite: boolean }) {
  if (orders.length === 0)
    return <Empty title="No open orders">Orders that rest in the book appear here.</Empty>;
  return (
    <SimpleTable
      caption="Your open orders"
      rows={orders}
      keyOf={({ id }) => id}
      columns={mayWrite ? [...orderColumns, actions] : orderColumns}
    />
  );
}

const actions: Column<Order> = { title: "Actions", cell: (order) => <OrderActions order={order} /> };
