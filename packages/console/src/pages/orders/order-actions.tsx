import type { Order } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useWalletNames } from "../../api/wallet-names";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { useFocusAfter } from "../../ui/forms/use-focus-after";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { isSameAmount } from "../../unanswered/same-amount";
import { untilDone } from "./until-done";

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
    mutationFn: async () => {
      await bursar.orders.cancel(id);
      return await untilDone(
        () => bursar.orders.get(id),
        (now) => !isOpen(now),
      );
    },
    onSuccess: (isDone) => isDone && onClose(),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  const waits = cancel.data === false;
  return (
    <Confirm
      title="Cancel this order?"
      verb="Cancel the order"
      closeVerb={waits ? "Close" : "Keep it"}
      tone="danger"
      mutation={cancel}
      isReady={!waits}
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
      {waits && (
        <AcceptedOnly>
          The cancellation was accepted, and it is not known yet that the market has carried it out. Until
          then the order can trade.
        </AcceptedOnly>
      )}
    </Confirm>
  );
}

function AcceptedOnly({ children }: { children: ReactNode }) {
  return (
    <p className="notice" data-tone="wait" role="status">
      {children}
    </p>
  );
}

function Reduce({ order, onClose }: { order: Order; onClose: () => void }) {
  const queries = useQueryClient();
  const draft = useDraft<{ size?: string }>(`reduce.${order.id}`, () => ({}));
  const size = draft.value.size ?? order.size ?? "";
  const amend = useAction({
    mutationFn: async () => {
      await bursar.orders.amend(order.id, { size });
      return await untilDone(
        () => bursar.orders.get(order.id),
        (now) => !isOpen(now) || isSameAmount(now.size ?? undefined, size),
      );
    },
    onSuccess: (isDone) => {
      if (!isDone) return;
      draft.clear();
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders"] }),
  });
  const waits = amend.data === false;
  return (
    <Confirm
      title="Reduce the order"
      verb="Reduce"
      closeVerb="Close"
      mutation={amend}
      isReady={size !== "" && !waits}
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
        onValue={(value) => draft.change({ size: value.trim() })}
      />
      {waits && (
        <AcceptedOnly>
          The new size was accepted, and it is not known yet that the market has carried it out. It changes
          nothing if as much is filled by now.
        </AcceptedOnly>
      )}
    </Confirm>
  );
}
