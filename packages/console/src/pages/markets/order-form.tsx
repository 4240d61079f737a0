import type { Market, PlaceOrderBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { faultOf, hasUnknownOutcome } from "../../ui/forms/fault-of";
import { Field } from "../../ui/forms/field";
import { TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { Problem } from "../../ui/panels/problem";

interface Draft {
  side: "buy" | "sell";
  type: "limit" | "market";
  timeInForce: "gtc" | "ioc" | "fok" | "post_only";
  price: string;
  size: string;
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
});

export function OrderForm({ market }: { market: Market }) {
  const queries = useQueryClient();
  const { value: draft, edit: editDraft, clear } = useKeyedDraft(`order.${market.market}`, empty);
  const place = useAction({
    mutationFn: () => bursar.orders.place(bodyOf(market, draft), { idempotencyKey: draft.key }),
    onSuccess: () => editDraft({ size: "" }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders", market.market] }),
  });
  const isUnknown = hasUnknownOutcome(place.error);
  const edit = (part: Partial<Draft>) => editDraft(part, isUnknown);
  const shown =
    draft.type === "limit" ? (["side", "type", "timeInForce"] as const) : (["side", "type"] as const);
  return (
    <form
      className="card stack"
      aria-labelledby="place"
      onSubmit={(event) => {
        event.preventDefault();
        place.mutate();
      }}
    >
      <h2 id="place">Place an order</h2>
      {/* Other content has another key, with which asking again would place a second order. */}
      <fieldset className="contents" disabled={place.isPending}>
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
        </div>
      </fieldset>
      {place.error !== null && <Problem error={place.error} />}
      {place.data !== undefined && place.error === null && (
        <p role="status">
          Order <code>{place.data.id}</code> was accepted.
        </p>
      )}
      <div className="row">
        <button type="submit" className="button" data-tone="primary" disabled={place.isPending}>
          {isUnknown ? "Ask again" : "Place the order"}
        </button>
        <button type="button" className="button" disabled={place.isPending} onClick={clear}>
          Discard
        </button>
      </div>
    </form>
  );
}

function bodyOf({ market }: Market, { side, type, timeInForce, price, size }: Draft): PlaceOrderBody {
  return type === "limit"
    ? { market, side, type, time_in_force: timeInForce, price, size }
    : { market, side, type, size };
}
