import type { Market, PlaceOrderBody } from "@bursar/client";
import { Confirm } from "../../ui/dialogs/confirm";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Amount } from "../../ui/values/amount";
import { multiplyExactly } from "./multiply-exactly";

interface ConfirmOrderProps {
  market: Market;
  body: PlaceOrderBody;
  onConfirm: () => void;
  onClose: () => void;
}

const idle = { isPending: false, error: null };

/** What is about to be ordered, what it comes to, and which wallet pays, before it is placed. */
export function ConfirmOrder({ market, body, onConfirm, onClose }: ConfirmOrderProps) {
  const { side, size = "", price, time_in_force } = body;
  const total = price === undefined ? undefined : multiplyExactly(price, size);
  return (
    <Confirm
      title="Place this order?"
      verb="Place it"
      closeVerb="Go back"
      mutation={idle}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Facts>
        <Fact name={side === "buy" ? "Buy" : "Sell"}>
          <Amount value={size} asset={market.base} />
        </Fact>
        <Fact name="Price">
          {price === undefined ? (
            "the market price, which is not known before"
          ) : (
            <>
              {side === "buy" ? "at most" : "at least"} <Amount value={price} asset={market.quote} />
            </>
          )}
        </Fact>
        <Fact name="Total">{total !== undefined && <Amount value={total} asset={market.quote} />}</Fact>
        <Fact name="Time in force">{time_in_force?.replaceAll("_", " ")}</Fact>
        <Fact name="Wallet">the primary wallet, which pays and receives</Fact>
        <TextFact name="Reference" text={body.reference} />
      </Facts>
    </Confirm>
  );
}
