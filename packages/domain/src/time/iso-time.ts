/** What was written last, which changes how fast a text is made and never which. */
let second = Number.NaN;
let upToSecond = "";

/**
 * The same text as `toISOString`, which takes a microsecond, nearly all of it for the calendar; this takes a tenth. Times that are
 * written one after the other are mostly of one second, so that the text up to the second is kept, and only that.
 */
export function isoTime(date: Date): string {
  const ms = date.getTime();
  const ownSecond = Math.floor(ms / 1000);
  if (ownSecond !== second) {
    upToSecond = date.toISOString().slice(0, -4);
    second = ownSecond;
  }
  const rest = ms - ownSecond * 1000;
  return `${upToSecond}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
}
