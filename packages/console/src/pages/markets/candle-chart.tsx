import type { Trade } from "@bursar/client";
import { useState } from "react";
import { Field } from "../../ui/forms/field";
import { candlesOf, periods } from "./candles";

const width = 600;
const height = 180;
const candlesMax = 60;

/** Candles of the trades that are loaded; the table beside it has the exact prices. */
export function CandleChart({ trades, quote }: { trades: readonly Trade[]; quote: string }) {
  const [periodMs, setPeriod] = useState<number>(periods[0][1]);
  const candles = candlesOf(trades, periodMs).slice(-candlesMax);
  const high = Math.max(...candles.map((candle) => candle.high));
  const low = Math.min(...candles.map((candle) => candle.low));
  const y = (price: number) =>
    high === low ? height / 2 : 8 + ((high - price) / (high - low)) * (height - 16);
  const step = width / candlesMax;
  return (
    <div className="stack">
      <Field label="Candles">
        {(props) => (
          <select
            {...props}
            className="input"
            value={periodMs}
            onChange={({ target }) => setPeriod(Number(target.value))}
          >
            {periods.map(([name, ms]) => (
              <option key={ms} value={ms}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {candles.length === 0 ? (
        <p className="quiet">Nothing was traded yet.</p>
      ) : (
        <figure className="chart">
          <svg
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={`${candles.length} candles from ${low} to ${high} ${quote}`}
          >
            {candles.map(({ startMs, open, close, high: top, low: bottom }, index) => {
              const x = index * step + step / 2;
              const isUp = close >= open;
              return (
                <g key={startMs} className={isUp ? "up" : "down"}>
                  <line x1={x} x2={x} y1={y(top)} y2={y(bottom)} />
                  <rect
                    x={x - step * 0.35}
                    width={step * 0.7}
                    y={y(Math.max(open, close))}
                    height={Math.max(1, Math.abs(y(open) - y(close)))}
                    fillOpacity={isUp ? 0 : 1}
                  />
                </g>
              );
            })}
          </svg>
          <figcaption className="quiet small">
            {low} to {high} {quote}. A filled candle fell, an empty one rose.
          </figcaption>
        </figure>
      )}
    </div>
  );
}
