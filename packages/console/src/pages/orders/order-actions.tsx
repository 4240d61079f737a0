import type { Order } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useWalletNames } from "../../api/wallet-names";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useFocusAfter } from "../../ui/forms/use-focus-after";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { untilChanged } from "./until-changed";

/** Whether it can still be made smaller or cancelled. */
export function isOpen({ state }: Pick<Order, "state">): boolean {
  return state === "pending" || state === "open" || state === "partially_filled";
}

/** Makes an open order smaller, or cancels it. */
export function OrderActions({ order }: { order: Order }) {
  const [asked, setAsked] = useState<"reduce" | "cancel">();
  const close = () => setAsked(undefined);
  const row = useRef<HTMLDivElement>(null);
  useFocusAfter(row);
  return (
    <>
      <div className="row nowrap" ref={row}>
        {order.size !== null && (
          <button type="button" className="button small" onClick={() => setAsked("reduce")}>
            Reduce
          </button>
        )}
        <button type="button" className="button small" data-tone="danger" onClick={() => setAsked("cancel")}>
          Cancel
        </button>
      </div>
      {asked === "reduce" && <Reduce order={order} onClose={close} />}
      {asked === "cancel" && <Cancel order={order} onClose={close} />}
    </>
  );
}

function Cancel({ order, onClose }: { order: Order; onClose: () => void }) {
  const { id, market, side, size, quote_size, price, filled, wallet_id } = order;
  const queries = useQueryClient();
  const names = useWalletNames();
  const [base, quote] = market.split("-");
  const cancel = useAction({
    mutationFn: async () => untilChanged(await bursar.orders.cancel(id)),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  return (
    <Confirm
      title="Cancel this order?"
      verb="Cancel the order"
      closeVerb="Keep it"
      tone="danger"
      mutation={cancel}
      onConfirm={cancel.mutate}
      onClose={onClose}
    >
      <Facts>
        <Fact name="Order">
          <code className="wrap-anywhere">{id}</code>
        </Fact>
        <Fact name={side === "buy" ? "Buy" : "Sell"}>
          {size === null ? (
            <>
              for at most <Amount value={quote_size ?? ""} asset={quote} />
            </>
          ) : (
            <Amount value={size} asset={base} />
          )}
        </Fact>
        <Fact name="Price">{price !== null && <Amount value={price} asset={quote} />}</Fact>
        <Fact name="Filled">
          <Amount value={filled} asset={base} />, which stays as it is
        </Fact>
        <Fact name="Wallet">
          {names?.has(wallet_id) && <ForeignText text={names.get(wallet_id) ?? ""} />}{" "}
          <code>{wallet_id}</code>
        </Fact>
        <TextFact name="Reference" text={order.reference} />
      </Facts>
    </Confirm>
  );
}

function Reduce({ order, onClose }: { order: Order; onClose: () => void }) {
  const queries = useQueryClient();
  const [size, setSize] = useState(order.size ?? "");
  const amend = useAction({
    mutationFn: async () => untilChanged(await bursar.orders.amend(order.id, { size })),
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
