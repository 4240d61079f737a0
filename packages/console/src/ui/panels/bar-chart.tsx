export interface Bar {
  /** Names the bar for those who point at it or read the table. */
  label: string;
  /** From the bottom to the top. */
  parts: readonly { name: string; tone: "good" | "bad" | "info" | "wait"; value: number }[];
}

const height = 64;
const step = 10;
const gap = 2;

/** Stacked bars over time. Colours repeat what the legend and the table say. */
export function BarChart({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const highest = Math.max(0, ...bars.map(totalOf));
  const most = Math.max(1, highest);
  const names = [...new Map(bars.flatMap(({ parts }) => parts.map(({ name, tone }) => [name, tone])))];
  return (
    <figure className="chart bars">
      <figcaption className="row small quiet">
        <span>{title}</span>
        {names.map(([name, tone]) => (
          <span key={name} className="key" data-tone={tone}>
            {name}
          </span>
        ))}
        <span>highest bar: {highest}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${bars.length * step} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}. The table below has the numbers.`}
      >
        <line x1="0" x2={bars.length * step} y1={height - 0.5} y2={height - 0.5} className="axis" />
        {bars.map((bar, index) => (
          <Column key={bar.label} bar={bar} x={index * step + gap / 2} most={most} />
        ))}
      </svg>
      <div className="row spread small quiet">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <details className="small">
        <summary className="quiet">Numbers</summary>
        <div className="scroller">
          <table>
            <caption className="visually-hidden">{title}</caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {names.map(([name]) => (
                  <th key={name} scope="col" className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {bars
                .filter((bar) => totalOf(bar) > 0)
                .map(({ label, parts }) => (
                  <tr key={label}>
                    <th scope="row">{label}</th>
                    {parts.map(({ name, value }) => (
                      <td key={name} className="number">
                        {value}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Column({ bar, x, most }: { bar: Bar; x: number; most: number }) {
  let top = height;
  return (
    <g>
      <title>{`${bar.label}: ${bar.parts.map(({ name, value }) => `${value} ${name}`).join(", ")}`}</title>
      <rect x={x} y={0} width={step - gap} height={height} className="pointed" />
      {bar.parts.map(({ name, tone, value }) => {
        // A bar that is not empty can be seen.
        const tall = value === 0 ? 0 : Math.max(1.5, (value / most) * (height - 4));
        top -= tall;
        return (
          <rect key={name} x={x} y={top} width={step - gap} height={tall} className="bar" data-tone={tone} />
        );
      })}
    </g>
  );
}

function totalOf({ parts }: Bar): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

const hourMs = 3_600_000;
const hourName = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});

/** The last hours up to the current one, each with its row if there is one. */
export function lastHours<Row extends { start: string }>(
  rows: readonly Row[],
  count: number,
  nowMs: number,
): { label: string; row: Row | undefined }[] {
  const byStart = new Map(rows.map((row) => [Date.parse(row.start), row]));
  const current = Math.floor(nowMs / hourMs);
  return Array.from({ length: count }, (_, index) => {
    const startMs = (current - count + 1 + index) * hourMs;
    return { label: hourName.format(startMs), row: byStart.get(startMs) };
  });
}
