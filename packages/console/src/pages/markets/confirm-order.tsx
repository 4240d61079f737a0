import { fromUnits, type LiveBook, type Market, type PlaceOrderBody } from "@bursar/client";
import { useDefaultWallet } from "../../api/wallet-names";
import { Confirm } from "../../ui/dialogs/confirm";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Amount } from "../../ui/values/amount";
import { useDecimals } from "../../ui/values/asset-decimals";
import { ForeignText } from "../../ui/values/foreign-text";
import { SecondOne } from "../../unanswered/unanswered-list";
import { estimateMarketOrder, type MarketEstimate } from "./estimate-market-order";
import { feeOf, isOutsideBand, percentOf, ratesOf, totalOf } from "./order-money";
import { isAlikeOrder, orderWords } from "./order-words";
import { timesInForce } from "./time-in-force";

interface ConfirmOrderProps {
  market: Market;
  body: PlaceOrderBody;
  idempotencyKey: string;
  /** The best price of the other side, if it would trade at once. */
  crossed: string | undefined;
  /** The book of the market, if it can be relied on. */
  book: LiveBook | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

type InPartProps = Pick<ConfirmOrderProps, "market" | "body"> & { estimate: MarketEstimate };

const idle = { isPending: false, error: null };

/** What is about to be ordered, what it comes to with its fee, and which wallet pays, before it is placed. */
export function ConfirmOrder(props: ConfirmOrderProps) {
  const { market, body, idempotencyKey, crossed, book, onConfirm, onClose } = props;
  const { side, size, quote_size, price, time_in_force } = body;
  const wallet = useDefaultWallet("primary");
  const isBuying = side === "buy";
  const estimate = price === undefined ? estimateMarketOrder(body, book, market) : undefined;
  const total = estimate?.total ?? totalOf(price, size);
  const bound = estimate !== undefined ? "about" : isBuying ? "at most" : "at least";
  return (
    <Confirm
      title="Place this order?"
      verb="Place it"
      closeVerb="Go back"
      mutation={idle}
      isReady={wallet?.frozen !== true}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Facts>
        <Fact name={isBuying ? "Buy" : "Sell"}>
          {size === undefined ? "as much as that pays for" : <Amount value={size} asset={market.base} />}
          {size === undefined && estimate !== undefined && (
            <>
              : about <Amount value={estimate.size} asset={market.base} />
            </>
          )}
        </Fact>
        <Fact name="Spend at most">
          {quote_size !== undefined && <Amount value={quote_size} asset={market.quote} />}
        </Fact>
        <Fact name="Price">
          {price === undefined ? (
            <MarketPrice estimate={estimate} quote={market.quote} />
          ) : (
            <>
              {bound} <Amount value={price} asset={market.quote} />
            </>
          )}
        </Fact>
        <Fact name={isBuying ? "Total" : "Total before the fee"}>
          {total !== undefined && (
            <>
              {bound} <Amount value={total} asset={market.quote} />
            </>
          )}
        </Fact>
        <FeeFacts
          market={market}
          timeInForce={time_in_force}
          received={receivedOf(body, estimate)}
          isEstimated={estimate !== undefined}
          side={side}
        />
        <Fact name="Time in force">{time_in_force !== undefined && timesInForce[time_in_force]}</Fact>
        <Fact name="Wallet">
          {wallet === undefined ? (
            "the primary wallet"
          ) : (
            <>
              <ForeignText text={wallet.name} /> <code>{wallet.id}</code>
            </>
          )}
          , which pays and receives
        </Fact>
        <TextFact name="Reference" text={body.reference} />
      </Facts>
      <SecondOne
        kind="order"
        words={orderWords}
        idempotencyKey={idempotencyKey}
        isAlike={(sent) => isAlikeOrder(sent, body)}
      />
      <TradesAtOnce market={market} body={body} crossed={crossed} />
      {estimate !== undefined && <TradesInPart market={market} body={body} estimate={estimate} />}
      {isOutsideBand(price, market) && (
        <p className="notice" data-tone="bad" role="alert">
          The market refuses this price now: it has to be between{" "}
          <Amount value={market.price_min ?? ""} asset={market.quote} /> and{" "}
          <Amount value={market.price_max ?? ""} asset={market.quote} />.
        </p>
      )}
      {wallet?.frozen && <FrozenWallet />}
    </Confirm>
  );
}

function MarketPrice({ estimate, quote }: { estimate: MarketEstimate | undefined; quote: string }) {
  if (estimate === undefined) return "the market price, which is not known before";
  const { average, worst } = estimate;
  if (average === null)
    return (
      <>
        the market price: <Amount value={worst} asset={quote} /> in the book now
      </>
    );
  return (
    <>
      the market price: in the book now {!average.isExact && "about "}
      <Amount value={average.price} asset={quote} /> on average, and <Amount value={worst} asset={quote} /> at
      worst. Other orders can change that
    </>
  );
}

/** What it receives before the fee, in each trade that is known to be one; undefined if what was typed is no number. */
function receivedOf(body: PlaceOrderBody, estimate: MarketEstimate | undefined): string[] | undefined {
  const { side, size, price } = body;
  if (estimate !== undefined) return estimate.parts.map((part) => (side === "buy" ? part.size : part.total));
  const received = side === "buy" ? size : totalOf(price, size);
  return received === undefined ? undefined : [received];
}

/** A market order does not wait for the rest. */
function TradesInPart({ market, body, estimate }: InPartProps) {
  const { size, end } = estimate;
  if (end === "filled" || (end === "spent" && body.size === undefined && estimate.average !== null))
    return null;
  return (
    <p className="notice" data-tone="wait" role="status">
      {end === "book" ? (
        <>
          The book has only <Amount value={size} asset={market.base} /> now.
        </>
      ) : estimate.average === null ? (
        "What it may spend does not pay for the smallest size at the price of the book now."
      ) : (
        <>
          What it may spend pays for <Amount value={size} asset={market.base} /> only at the prices of the
          book now.
        </>
      )}{" "}
      The rest of a market order is cancelled.
    </p>
  );
}

/** The wallet of the order cannot pay. */
export function FrozenWallet() {
  return (
    <p className="notice" data-tone="bad" role="alert">
      The primary wallet is frozen: its orders are rejected.
    </p>
  );
}

/** A limit is not always a price to wait for. */
export function TradesAtOnce({
  market,
  body,
  crossed,
}: Pick<ConfirmOrderProps, "market" | "body" | "crossed">) {
  if (crossed === undefined) return null;
  return (
    <p className="notice" data-tone="wait" role="status">
      The book {body.side === "buy" ? "sells" : "buys"} at <Amount value={crossed} asset={market.quote} />{" "}
      now. {crossedWords(body.time_in_force)}
    </p>
  );
}

/** The best price says nothing of how much there is at it. */
function crossedWords(timeInForce: PlaceOrderBody["time_in_force"]): string {
  if (timeInForce === "post_only")
    return "This order would trade at once, and is rejected because it is post only.";
  if (timeInForce === "fok")
    return "This order trades at once as a whole, at that price or worse ones within its limit, or not at all.";
  return "This order begins to trade at once, at that price or worse ones within its limit, as far as the book has enough.";
}

/** Of an asset with more, nobody notices the rounding. */
const noticedDecimalsMax = 4;

interface FeeFactsProps {
  market: Market;
  timeInForce: PlaceOrderBody["time_in_force"];
  side: PlaceOrderBody["side"];
  /** What it receives before the fee, in each trade, if that is known. */
  received: readonly string[] | undefined;
  /** Whether that depends on the book. */
  isEstimated: boolean;
}

/** Both sides pay the fee out of what they receive. */
function FeeFacts({ market, timeInForce, side, received, isEstimated }: FeeFactsProps) {
  const asset = side === "buy" ? market.base : market.quote;
  const decimals = useDecimals(asset);
  const isRounded = decimals !== undefined && decimals <= noticedDecimalsMax;
  const rates = ratesOf(market, timeInForce);
  const amountsOf = (rate: number) =>
    received === undefined || decimals === undefined ? undefined : feeOf(received, rate, decimals);
  const rate = (basisPoints: number) => {
    const amounts = amountsOf(basisPoints);
    return (
      <>
        {percentOf(basisPoints)} %
        {amounts !== undefined && (
          <>
            {" "}
            ({isEstimated && isRounded && "at least "}
            <Amount value={amounts.fee} asset={asset} />)
          </>
        )}
      </>
    );
  };
  const { taker, maker } = rates;
  const most = Math.max(taker ?? 0, maker ?? 0);
  const left = amountsOf(most)?.left;
  return (
    <>
      <Fact name="Fee">
        {taker !== undefined && maker !== undefined && taker !== maker ? (
          <>
            {rate(taker)} of what trades at once, {rate(maker)} of what waits in the book first
          </>
        ) : (
          rate(most)
        )}
        , taken from the {asset} that it receives
        {isRounded && (
          <>
            , and rounded up to <Amount value={fromUnits(1n, decimals)} asset={asset} /> in each trade
            {isEstimated && ", of which there is at least one at each price"}
          </>
        )}
      </Fact>
      <Fact name="Received after the fee">
        {left !== undefined && (
          <>
            about <Amount value={left} asset={asset} />
            {side === "sell" && !isEstimated && ", or more at a better price"}
          </>
        )}
      </Fact>
    </>
  );
}
