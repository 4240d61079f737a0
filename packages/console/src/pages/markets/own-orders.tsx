import type { Order } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { Empty } from "../../ui/panels/empty";
import { Problem } from "../../ui/panels/problem";
import { SimpleTable } from "../../ui/tables/simple-table";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** The tenant's open orders, which can be made smaller or cancelled. */
export function OwnOrders({ orders, mayWrite }: { orders: readonly Order[]; mayWrite: boolean }) {
  const queries = useQueryClient();
  const [amended, setAmended] = useState<Order>();
  const cancel = useAction({
    mutationFn: (id: string) => bursar.orders.cancel(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  const actions: Column<Order> = {
    title: "Actions",
    cell: (order) => (
      <div className="row nowrap">
        <button type="button" className="button small" onClick={() => setAmended(order)}>
          Reduce
        </button>
        <button
          type="button"
          className="button small"
          data-tone="danger"
          disabled={cancel.isPending}
          onClick={() => cancel.mutate(order.id)}
        >
          Cancel
        </button>
      </div>
    ),
  };
  if (orders.length === 0)
    return <Empty title="No open orders">Orders that rest in the book appear here.</Empty>;
  return (
    <>
      {cancel.error !== null && <Problem error={cancel.error} />}
      <SimpleTable
        caption="Your open orders"
        rows={orders}
        keyOf={({ id }) => id}
        columns={mayWrite ? [...columns, actions] : columns}
      />
      {amended !== undefined && <Amend order={amended} onClose={() => setAmended(undefined)} />}
    </>
  );
}

const columns: readonly Column<Order>[] = [
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Side", cell: ({ side }) => side },
  { title: "Price", isNumber: true, cell: ({ price }) => price !== null && <Amount value={price} /> },
  { title: "Size", isNumber: true, cell: ({ size }) => size !== null && <Amount value={size} /> },
  { title: "Filled", isNumber: true, cell: ({ filled }) => <Amount value={filled} /> },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: "Reference",
    cell: ({ reference }) => reference !== null && <ForeignText text={reference} limit={60} />,
  },
];

function Amend({ order, onClose }: { order: Order; onClose: () => void }) {
  const queries = useQueryClient();
  const [size, setSize] = useState(order.size ?? "");
  const amend = useAction({
    mutationFn: () => bursar.orders.amend(order.id, { size }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  return (
    <Confirm
      title="Reduce the order"
      verb="Reduce"
      mutation={amend}
      isReady={size !== ""}
      onConfirm={amend.mutate}
      onClose={onClose}
    >
      <TextField
        label="New total size"
        hint="With what is filled. The order keeps its place in the book"
        inputMode="decimal"
        autoComplete="off"
        value={size}
        fault={faultOf(amend.error, "size")}
        onValue={(value) => setSize(value.trim())}
      />
    </Confirm>
  );
}
