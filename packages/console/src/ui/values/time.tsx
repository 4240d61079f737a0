const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const localShort = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  second: "2-digit",
});

/** A time of the service: local on the page, UTC in the title and for screen readers. */
export function Time({ at, long = false }: { at: string; long?: boolean }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  const utc = `${date.toISOString().replace("T", " ").replace("Z", "")} UTC`;
  return (
    <time dateTime={at} title={utc} className={long ? undefined : "moment"}>
      {long ? `${local.format(date)} (${utc})` : localShort.format(date)}
    </time>
  );
}
