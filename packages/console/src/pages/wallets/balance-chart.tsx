import type { BalancePoint } from "@bursar/client";
import { serviceClock } from "../../api/service-clock";
import { Amount } from "../../ui/values/amount";

const width = 800;
const height = 160;
const margin = 6;

const dayOf = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

interface BalanceChartProps {
  points: readonly BalancePoint[];
  asset: string;
  period: "hour" | "day";
}

/**
 * Balances over time, as steps, each the last one of its period: what a balance was within a period is only in the statement. Positions are
 * rounded; the numbers beside it are exact.
 */
export function BalanceChart({ points, asset, period }: BalanceChartProps) {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined)
    return <p className="quiet">Nothing has changed in this time.</p>;
  const times = points.map(({ start }) => Date.parse(start));
  const values = points.map(({ balance }) => Number(balance));
  const highest = Math.max(...values);
  const lowest = Math.min(0, ...values);
  const from = Math.min(...times);
  const to = Math.max(serviceClock.nowMs(), ...times);
  const x = (time: number) => margin + ((time - from) / Math.max(1, to - from)) * (width - 2 * margin);
  const y = (value: number) =>
    height -
    margin -
    ((value - lowest) / Math.max(Number.MIN_VALUE, highest - lowest)) * (height - 2 * margin);
  const line = points
    .map((_, index) => {
      const level = y(values[index] ?? 0).toFixed(1);
      const at = x(times[index] ?? from).toFixed(1);
      return index === 0 ? `M${at} ${level}` : `H${at}V${level}`;
    })
    .join("");
  const ends = `${line}H${x(to).toFixed(1)}`;
  const highestOf = `highest at the end of ${period === "hour" ? "an hour" : "a day"}`;
  const top = points[values.indexOf(highest)]?.balance ?? "0";
  return (
    <figure className="balance-chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Balance of ${asset} from ${dayOf.format(from)} until now: ${highestOf} ${top}, now ${last.balance}.`}
      >
        <path className="area" d={`${ends}V${height - margin}H${margin}Z`} />
        <path className="line" d={ends} vectorEffect="non-scaling-stroke" />
      </svg>
      <figcaption className="row spread small quiet">
        <span>{dayOf.format(from)}</span>
        <span>
          {highestOf} <Amount value={top} asset={asset} isNamed={false} />, now{" "}
          <Amount value={last.balance} asset={asset} />
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
