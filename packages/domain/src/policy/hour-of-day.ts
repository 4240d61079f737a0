/** The hour of the day, 0 to 23, at a time. */
export type HourOfDay = (timeMs: number) => number;

/** Names of the time zone database. Offsets such as `+01:00` are left out: not every runtime knows them. */
const zonePattern = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;
const zoneLengthMax = 64;
const minuteMs = 60_000;

/** Finds the clock of a time zone by its name, whatever its case; undefined where there is no such zone. */
export type TimeZones = (name: string) => HourOfDay | undefined;

/** Clocks are made once for all policies: each holds a calendar, which is large. There are no more of them than zones. */
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
 * Asking the calendar costs half a microsecond and requests come at nearly the same time, so the answer is kept for the minute it was
 * given for: no zone has changed its offset within a minute since 1972.
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
