import type { LiveBook, Market, Order, PlaceOrderBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useDefaultWallet } from "../../api/wallet-names";
import { faultOf } from "../../ui/forms/fault-of";
import { Field } from "../../ui/forms/field";
import { TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { useGoToFault } from "../../ui/forms/use-go-to-fault";
import { useKeptFocus } from "../../ui/forms/use-kept-focus";
import { Problem } from "../../ui/panels/problem";
import { ForgetQuestion } from "../../unanswered/forget-question";
import { UnansweredList } from "../../unanswered/unanswered-list";
import { type Sent, useSentOnce } from "../../unanswered/use-sent-once";
import { OrderOutcome } from "../orders/order-outcome";
import { ConfirmOrder } from "./confirm-order";
import { faultsOfOrder } from "./order-faults";
import { crossedPrice } from "./order-money";
import { FrozenWallet, TradesAtOnce } from "./order-notices";
import { orderWords } from "./order-words";
import { type TimeInForce, timesInForce } from "./time-in-force";

interface Draft extends Sent<PlaceOrderBody> {
  side: "buy" | "sell";
  type: "limit" | "market";
  timeInForce: TimeInForce;
  price: string;
  size: string;
  /** What a market order that buys may spend. A draft of an earlier version has none. */
  quoteSize?: string;
  reference: string;
}

const choices = {
  side: ["buy", "sell"],
  type: ["limit", "market"],
  timeInForce: Object.keys(timesInForce) as TimeInForce[],
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

interface OrderFormProps {
  market: Market;
  /** The book of the market, if it can be relied on. */
  book: LiveBook | undefined;
  /** The tenant's orders in the book; undefined if not all of them are known. */
  own: readonly Order[] | undefined;
}

/** An order is placed once, whatever becomes of the answer, as a payment is. What has become of it is shown until another is placed. */
export function OrderForm({ market, book, own }: OrderFormProps) {
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
    wasRefusedAgain,
    editAsNew,
  } = useSentOnce({
    kind: "order",
    draft: keyed,
    post: bursar.orders.place,
    onEnd: () => editDraft({ size: "", quoteSize: "", reference: "", sent: undefined }),
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
  const wallet = useDefaultWallet("primary");
  const crossed = crossedPrice(body, book);
  const placeIt = () => {
    setAsking(false);
    setAccepted(undefined);
    submit(body);
  };
  const isSpending = spends(draft);
  const faults = faultsOfOrder(
    {
      price: draft.type === "limit" ? draft.price : "",
      size: draft.size,
      quoteSize: isSpending ? (draft.quoteSize ?? "") : "",
    },
    market,
  );
  const shown =
    draft.type === "limit" ? (["side", "type", "timeInForce"] as const) : (["side", "type"] as const);
  return (
    <>
      <UnansweredList
        kind="order"
        words={orderWords}
        exceptKey={draft.sent === undefined ? undefined : draft.key}
        post={bursar.orders.place}
        onAnswer={onAnswer}
      />
      <form
        className="card stack"
        aria-labelledby="place"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.sent !== undefined) placeIt();
          else if (Object.keys(faults).length === 0) setAsking(true);
        }}
      >
        <h2 id="place">Place an order</h2>
        <fieldset className="contents" disabled={isLocked}>
          <div className="fields">
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
                fault={faults.price ?? faultOf(place.error, "price")}
                onValue={(price) => edit({ price: price.trim() })}
              />
            )}
            {isSpending && (
              <TextField
                required
                inputMode="decimal"
                autoComplete="off"
                label={`Spend at most (${market.quote})`}
                hint="It is held until the order has ended"
                value={draft.quoteSize ?? ""}
                fault={faults.quoteSize ?? faultOf(place.error, "quote_size")}
                onValue={(quoteSize) => edit({ quoteSize: quoteSize.trim() })}
              />
            )}
            <TextField
              required={!isSpending}
              inputMode="decimal"
              autoComplete="off"
              label={`Size (${market.base})`}
              hint={`${isSpending ? "Optional: without it, as much as that pays for. " : ""}Steps of ${market.lot_size}`}
              value={draft.size}
              fault={faults.size ?? faultOf(place.error, "size")}
              onValue={(size) => edit({ size: size.trim() })}
            />
            <TextField
              autoComplete="off"
              label="Reference"
              hint="Optional"
              maxLength={128}
              value={draft.reference}
              fault={faultOf(place.error, "reference")}
              onValue={(reference) => edit({ reference })}
            />
          </div>
        </fieldset>
        {draft.type === "limit" && <p className="quiet small">{timesInForce[draft.timeInForce]}.</p>}
        {place.error !== null && <Problem error={place.error} />}
        {isUnknown && place.error === null && (
          <p className="notice" data-tone="wait" role="status">
            This order was sent, and the answer was lost. Ask again: it is placed once at most.
          </p>
        )}
        {accepted !== undefined && place.error === null && <OrderOutcome placed={accepted} />}
        {!isLocked && draft.size !== "" && <TradesAtOnce market={market} body={body} crossed={crossed} />}
        {wallet?.frozen && <FrozenWallet />}
        <div className="row">
          <button
            type="submit"
            className="button"
            data-tone="primary"
            disabled={isPending || (!isLocked && Object.keys(faults).length > 0)}
          >
            {isPending ? "Placing" : isUnknown ? "Ask again" : "Place the order"}
          </button>
          {wasRefusedAgain && (
            <button type="button" className="button" disabled={isPending} onClick={editAsNew}>
              Edit as a new order
            </button>
          )}
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
        <ConfirmOrder
          market={market}
          body={body}
          idempotencyKey={draft.key}
          crossed={crossed}
          book={book}
          own={own}
          onConfirm={placeIt}
          onClose={() => setAsking(false)}
        />
      )}
      {isForgetting && (
        <ForgetQuestion
          words={orderWords}
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

/** A market order that buys has no price that bounds what it costs. */
function spends({ side, type }: Pick<Draft, "side" | "type">): boolean {
  return side === "buy" && type === "market";
}

function bodyOf({ market }: Market, draft: Draft): PlaceOrderBody {
  const { side, type, timeInForce, price, size, quoteSize = "", reference } = draft;
  return {
    market,
    side,
    type,
    ...(type === "limit" ? { time_in_force: timeInForce, price } : {}),
    ...(spends(draft) ? { quote_size: quoteSize } : {}),
    ...(spends(draft) && size === "" ? {} : { size }),
    ...(reference === "" ? {} : { reference }),
  };
}
