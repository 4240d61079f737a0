import type { Market, Order, PlaceOrderBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { faultOf } from "../../ui/forms/fault-of";
import { Field } from "../../ui/forms/field";
import { TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { useGoToFault } from "../../ui/forms/use-go-to-fault";
import { useKeptFocus } from "../../ui/forms/use-kept-focus";
import { Problem } from "../../ui/panels/problem";
import { type Sent, useSentOnce } from "../../unanswered/use-sent-once";
import { ConfirmOrder } from "./confirm-order";
import { ForgetOrder, UnansweredOrders } from "./unanswered-orders";

interface Draft extends Sent<PlaceOrderBody> {
  side: "buy" | "sell";
  type: "limit" | "market";
  timeInForce: "gtc" | "ioc" | "fok" | "post_only";
  price: string;
  size: string;
  reference: string;
}

const choices = {
  side: ["buy", "sell"],
  type: ["limit", "market"],
  timeInForce: ["gtc", "ioc", "fok", "post_only"],
} as const;
const labels = { side: "Side", type: "Type", timeInForce: "Time in force" } as const;

const empty = (): Draft => ({
  side: "buy",
  type: "limit",
  timeInForce: "gtc",
  price: "",
  size: "",
  reference: "",
  sent: undefined,
});

/** An order is placed once, whatever becomes of the answer, as a payment is. */
export function OrderForm({ market }: { market: Market }) {
  const queries = useQueryClient();
  const [accepted, setAccepted] = useState<Order>();
  const keyed = useKeyedDraft(`order.${market.market}`, empty);
  const { value: draft, edit: editDraft } = keyed;
  const onAnswer = (order: Order) => {
    setAccepted(order);
    void queries.invalidateQueries({ queryKey: ["orders"] });
  };
  const {
    send: place,
    submit,
    discard,
    isPending,
    isLocked,
    isUnknown,
  } = useSentOnce({
    kind: "order",
    draft: keyed,
    post: bursar.orders.place,
    onEnd: () => editDraft({ size: "", reference: "", sent: undefined }),
    onAnswer,
  });
  const edit = (part: Partial<Draft>) => {
    if (isLocked) return;
    editDraft(part);
    place.reset();
  };
  const form = useRef<HTMLFormElement>(null);
  useKeptFocus(form, isLocked);
  useGoToFault(form, place.error);
  const [isAsking, setAsking] = useState(false);
  const [isForgetting, setForgetting] = useState(false);
  const body = bodyOf(market, draft);
  const placeIt = () => {
    setAsking(false);
    setAccepted(undefined);
    submit(body);
  };
  const shown =
    draft.type === "limit" ? (["side", "type", "timeInForce"] as const) : (["side", "type"] as const);
  return (
    <>
      <UnansweredOrders exceptKey={draft.sent === undefined ? undefined : draft.key} onAnswer={onAnswer} />
      <form
        className="card stack"
        aria-labelledby="place"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.sent === undefined) setAsking(true);
          else placeIt();
        }}
      >
        <h2 id="place">Place an order</h2>
        <fieldset className="contents" disabled={isLocked}>
          <div className="filters">
            {shown.map((name) => (
              <Field key={name} label={labels[name]}>
                {(props) => (
                  <select
                    {...props}
                    className="input"
                    value={draft[name]}
                    onChange={({ target }) => edit({ [name]: target.value })}
                  >
                    {choices[name].map((choice) => (
                      <option key={choice} value={choice}>
                        {choice.replaceAll("_", " ")}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            ))}
            {draft.type === "limit" && (
              <TextField
                required
                inputMode="decimal"
                autoComplete="off"
                label={`Price (${market.quote})`}
                hint={`Steps of ${market.tick_size}`}
                value={draft.price}
                fault={faultOf(place.error, "price")}
                onValue={(price) => edit({ price: price.trim() })}
              />
            )}
            <TextField
              required
              inputMode="decimal"
              autoComplete="off"
              label={`Size (${market.base})`}
              hint={`Steps of ${market.lot_size}`}
              value={draft.size}
              fault={faultOf(place.error, "size")}
              onValue={(size) => edit({ size: size.trim() })}
            />
            <TextField
              autoComplete="off"
              label="Reference"
              hint="Optional. Your own name for it"
              maxLength={128}
              value={draft.reference}
              fault={faultOf(place.error, "reference")}
              onValue={(reference) => edit({ reference })}
            />
          </div>
        </fieldset>
        {place.error !== null && <Problem error={place.error} />}
        {isUnknown && place.error === null && (
          <p className="notice" data-tone="wait" role="status">
            This order was sent, and the answer was lost. Ask again: it is placed once at most.
          </p>
        )}
        {accepted !== undefined && place.error === null && (
          <p role="status">
            Order{" "}
            <Link to="/orders/$id" params={{ id: accepted.id }}>
              {accepted.id}
            </Link>{" "}
            was accepted.
          </p>
        )}
        <div className="row">
          <button type="submit" className="button" data-tone="primary" disabled={isPending}>
            {isPending ? "Placing" : isUnknown ? "Ask again" : "Place the order"}
          </button>
          <button
            type="button"
            className="button"
            disabled={isPending}
            onClick={isUnknown ? () => setForgetting(true) : discard}
          >
            Discard
          </button>
        </div>
      </form>
      {isAsking && (
        <ConfirmOrder market={market} body={body} onConfirm={placeIt} onClose={() => setAsking(false)} />
      )}
      {isForgetting && (
        <ForgetOrder
          onConfirm={() => {
            setForgetting(false);
            discard();
          }}
          onClose={() => setForgetting(false)}
        />
      )}
    </>
  );
}

function bodyOf({ market }: Market, draft: Draft): PlaceOrderBody {
  const { side, type, timeInForce, price, size, reference } = draft;
  return {
    ...(type === "limit"
      ? { market, side, type, time_in_force: timeInForce, price, size }
      : { market, side, type, size }),
    ...(reference === "" ? {} : { reference }),
  };
}
