/** The hour of the day, 0 to 23, at a time. */
export type HourOfDay = (timeMs: number) => number;

/** Names of the time zone database. Offsets such as `+01:00` are excluded, because not every runtime supports them. */
const zonePattern = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;
const zoneLengthMax = 64;
const minuteMs = 60_000;

/** Finds the clock of a time zone by its case-insensitive name; undefined if there is no such zone. */
export type TimeZones = (name: string) => HourOfDay | undefined;

/** All policies share the clocks, because each holds a large calendar object. There is at most one per zone. */
export function createTimeZones(): TimeZones {
  const clocks = new Map<string, HourOfDay>();
  return (name) => {
    if (name.length > zoneLengthMax || !zonePattern.test(name)) return undefined;
    const key = name.toLowerCase();
    const clock = clocks.get(key) ?? createHourOfDay(name);
    if (clock !== undefined) clocks.set(key, clock);
    return clock;
  };
}

/**
 * A calendar look-up takes half a microsecond and consecutive requests have nearly the same time, so the result is cached for its minute.
 * Since 1972 no zone has changed its offset within a minute.
 */
function createHourOfDay(timeZone: string): HourOfDay | undefined {
  const format = createFormat(timeZone);
  if (format === undefined) return undefined;
  let knownMinute = Number.NaN;
  let knownHour = 0;
  return (timeMs) => {
    const minute = Math.floor(timeMs / minuteMs);
    if (minute !== knownMinute) {
      knownHour = Number(format.format(minute * minuteMs));
      knownMinute = minute;
    }
    return knownHour;
  };
}

function createFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", hourCycle: "h23" });
  } catch {
    return undefined;
  }
}
