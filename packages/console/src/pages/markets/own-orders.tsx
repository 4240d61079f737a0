import type { Order } from "@bursar/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Modal } from "../../ui/dialogs/modal";
import { Field } from "../../ui/forms/field";
import { Empty } from "../../ui/panels/empty";
import { Problem } from "../../ui/panels/problem";
import { Scroller } from "../../ui/tables/scroller";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** The tenant's open orders, which can be made smaller or cancelled. */
export function OwnOrders({ orders, mayWrite }: { orders: readonly Order[]; mayWrite: boolean }) {
  const queries = useQueryClient();
  const [amended, setAmended] = useState<Order>();
  const cancel = useMutation({
    mutationFn: (id: string) => bursar.orders.cancel(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  if (orders.length === 0)
    return <Empty title="No open orders">Orders that rest in the book appear here.</Empty>;
  return (
    <>
      {cancel.error !== null && <Problem error={cancel.error} />}
      <Scroller label="Table of your open orders">
        <table>
          <thead>
            <tr>
              <th scope="col">Created</th>
              <th scope="col">Side</th>
              <th scope="col" className="number">
                Price
              </th>
              <th scope="col" className="number">
                Size
              </th>
              <th scope="col" className="number">
                Filled
              </th>
              <th scope="col">State</th>
              <th scope="col">Reference</th>
              {mayWrite && <th scope="col">Actions</th>}
            </tr>
          </thead>
          <tbody>
            {orders.map((order) => (
              <tr key={order.id}>
                <td>
                  <Time at={order.created_at} />
                </td>
                <td>{order.side}</td>
                <td className="number">{order.price !== null && <Amount value={order.price} />}</td>
                <td className="number">{order.size !== null && <Amount value={order.size} />}</td>
                <td className="number">
                  <Amount value={order.filled} />
                </td>
                <td>
                  <StateBadge state={order.state} />
                </td>
                <td className="one-line">
                  {order.reference !== null && <ForeignText text={order.reference} limit={60} />}
                </td>
                {mayWrite && (
                  <td>
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
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      {amended !== undefined && <Amend order={amended} onClose={() => setAmended(undefined)} />}
    </>
  );
}

function Amend({ order, onClose }: { order: Order; onClose: () => void }) {
  const queries = useQueryClient();
  const [size, setSize] = useState(order.size ?? "");
  const amend = useMutation({
    mutationFn: () => bursar.orders.amend(order.id, { size }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  return (
    <Modal title="Reduce the order" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          amend.mutate();
        }}
      >
        <Field label="New total size" hint="With what is filled. The order keeps its place in the book">
          {(props) => (
            <input
              {...props}
              className="input"
              inputMode="decimal"
              autoComplete="off"
              value={size}
              onChange={({ target }) => setSize(target.value.trim())}
            />
          )}
        </Field>
        {amend.error !== null && <Problem error={amend.error} />}
        <div className="row">
          <button type="submit" className="button" data-tone="primary" disabled={amend.isPending}>
            Reduce
          </button>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Modal>
  );
}
