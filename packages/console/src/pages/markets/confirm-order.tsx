import { fromUnits, type LiveBook, type Market, type Order, type PlaceOrderBody } from "@bursar/client";
import { useDefaultWallet } from "../../api/wallet-names";
import { Confirm } from "../../ui/dialogs/confirm";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Amount } from "../../ui/values/amount";
import { useDecimals } from "../../ui/values/asset-decimals";
import { ForeignText } from "../../ui/values/foreign-text";
import { SecondOne } from "../../unanswered/unanswered-list";
import { isMore } from "../transactions/payment-fields";
import { estimateMarketOrder, type MarketEstimate } from "./estimate-market-order";
import { feeOf, isOutsideBand, percentOf, ratesOf, totalOf } from "./order-money";
import { EstimateNote, FrozenWallet, MeetsOwnOrder, TradesAtOnce, TradesInPart } from "./order-notices";
import { isAlikeOrder, orderWords } from "./order-words";
import { ownPriceInReach } from "./own-price";
import { timesInForce } from "./time-in-force";

interface ConfirmOrderProps {
  market: Market;
  body: PlaceOrderBody;
  idempotencyKey: string;
  /** The best price of the other side, if it would trade at once. */
  crossed: string | undefined;
  /** The book of the market, if it can be relied on. */
  book: LiveBook | undefined;
  /** The tenant's orders in the book; undefined if not all of them are known. */
  own: readonly Order[] | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

const idle = { isPending: false, error: null };

/** What is about to be ordered, what it comes to with its fee, and which wallet pays, before it is placed. */
export function ConfirmOrder(props: ConfirmOrderProps) {
  const { market, body, idempotencyKey, crossed, book, own, onConfirm, onClose } = props;
  const { side, size, quote_size, price, time_in_force } = body;
  const wallet = useDefaultWallet("primary");
  const isBuying = side === "buy";
  const ownPrice = ownPriceInReach(body, own);
  const estimate = price === undefined ? estimateMarketOrder(body, book, market, ownPrice) : undefined;
  const total = estimate?.total ?? totalOf(price, size);
  const paid = isBuying
    ? { asset: market.quote, amount: quote_size ?? totalOf(price, size) }
    : { asset: market.base, amount: size };
  const available = wallet?.balances.find(({ asset }) => asset === paid.asset)?.available ?? "0";
  const isShort = wallet !== undefined && paid.amount !== undefined && isMore(paid.amount, available);
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
      <MeetsOwnOrder market={market} body={body} ownPrice={ownPrice} />
      {estimate !== undefined && <EstimateNote isOwnKnown={own !== undefined} />}
      {isOutsideBand(price, market) && (
        <p className="notice" data-tone="bad" role="alert">
          The market refuses this price now: it has to be between{" "}
          <Amount value={market.price_min ?? ""} asset={market.quote} /> and{" "}
          <Amount value={market.price_max ?? ""} asset={market.quote} />.
        </p>
      )}
      {isShort && (
        <p className="notice" data-tone="bad" role="alert">
          The primary wallet has only <Amount value={available} asset={paid.asset} />, and the order holds{" "}
          <Amount value={paid.amount ?? ""} asset={paid.asset} />. It is rejected unless more arrives before.
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
