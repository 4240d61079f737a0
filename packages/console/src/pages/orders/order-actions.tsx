import type { Order } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { Problem } from "../../ui/panels/problem";

/** Whether it can still be made smaller or cancelled. */
export function isOpen({ state }: Pick<Order, "state">): boolean {
  return state === "pending" || state === "open" || state === "partially_filled";
}

/** Makes an open order smaller, or cancels it. */
export function OrderActions({ order }: { order: Order }) {
  const queries = useQueryClient();
  const [isReducing, setReducing] = useState(false);
  const cancel = useAction({
    mutationFn: () => bursar.orders.cancel(order.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  return (
    <>
      {cancel.error !== null && <Problem error={cancel.error} />}
      <div className="row nowrap">
        {order.size !== null && (
          <button type="button" className="button small" onClick={() => setReducing(true)}>
            Reduce
          </button>
        )}
        <button
          type="button"
          className="button small"
          data-tone="danger"
          disabled={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          Cancel
        </button>
      </div>
      {isReducing && <Reduce order={order} onClose={() => setReducing(false)} />}
    </>
  );
}

function Reduce({ order, onClose }: { order: Order; onClose: () => void }) {
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
