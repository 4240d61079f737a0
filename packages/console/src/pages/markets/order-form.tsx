import { isBursarError, type Market, type PlaceOrderBody } from "@bursar/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Field } from "../../ui/forms/field";
import { useDraft } from "../../ui/forms/use-draft";
import { Problem } from "../../ui/panels/problem";

interface Draft {
  /** The same for every attempt at this order, so that it is placed once. */
  key: string;
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
  key: crypto.randomUUID(),
  side: "buy",
  type: "limit",
  timeInForce: "gtc",
  price: "",
  size: "",
});

export function OrderForm({ market }: { market: Market }) {
  const queries = useQueryClient();
  const { value: draft, change, clear } = useDraft(`order.${market.market}`, empty);
  const place = useMutation({
    mutationFn: () => bursar.orders.place(bodyOf(market, draft), { idempotencyKey: draft.key }),
    onSuccess: () => change({ key: crypto.randomUUID(), size: "" }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["orders", market.market] }),
  });
  const edit = (part: Partial<Draft>) => {
    // Another content is another order, unless the last attempt may have had its effect.
    const isUnknown = isBursarError(place.error) && place.error.outcome === "unknown";
    change(isUnknown ? part : { ...part, key: crypto.randomUUID() });
  };
  const faultOf = (path: string) =>
    isBursarError(place.error)
      ? place.error.details.find((detail) => detail.path.endsWith(path))?.reason
      : undefined;
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
          <NumberField
            label={`Price (${market.quote})`}
            hint={`Steps of ${market.tick_size}`}
            value={draft.price}
            fault={faultOf("price")}
            onChange={(price) => edit({ price })}
          />
        )}
        <NumberField
          label={`Size (${market.base})`}
          hint={`Steps of ${market.lot_size}`}
          value={draft.size}
          fault={faultOf("size")}
          onChange={(size) => edit({ size })}
        />
      </div>
      {place.error !== null && <Problem error={place.error} />}
      {place.data !== undefined && place.error === null && (
        <p role="status">
          Order <code>{place.data.id}</code> was accepted.
        </p>
      )}
      <div className="row">
        <button type="submit" className="button" data-tone="primary" disabled={place.isPending}>
          {isBursarError(place.error) && place.error.outcome === "unknown" ? "Ask again" : "Place the order"}
        </button>
        <button type="button" className="button" onClick={clear}>
          Discard
        </button>
      </div>
    </form>
  );
}

interface NumberFieldProps {
  label: string;
  hint: string;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

function NumberField({ label, hint, value, fault, onChange }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(props) => (
        <input
          {...props}
          className="input"
          required
          inputMode="decimal"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value.trim())}
        />
      )}
    </Field>
  );
}

function bodyOf({ market }: Market, { side, type, timeInForce, price, size }: Draft): PlaceOrderBody {
  return type === "limit"
    ? { market, side, type, time_in_force: timeInForce, price, size }
    : { market, side, type, size };
}
