/** What differs from run to run, and the name that a recording has for it. */
const marks: [mark: string, pattern: RegExp][] = [
  ["<time>", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/],
  ["<hex>", /^[0-9a-f]{64}$/],
  ["<token>", /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/],
  ["<secret>", /^bsk_\S+$/],
  ["<base64>", /^[A-Za-z0-9+/]{43}=$/],
  ["<base64url>", /^[\w-]{43}$/],
  ["<url>", /^http:\/\/127\.0\.0\.1:\d+/],
];

/** Fields whose words may change; programs do not read them. */
const forPeople = new Set(["message", "reason", "meaning", "error_description"]);

/** An answer as it is recorded: what differs from run to run is replaced by what it is. */
export function toRecording(value: unknown): unknown {
  if (typeof value === "string") return markOf(value);
  if (Array.isArray(value)) return value.map(toRecording);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      forPeople.has(name) && typeof part === "string" ? "<text>" : toRecording(part),
    ]),
  );
}

function markOf(text: string): string {
  const id = /^([a-z]{2,5})_[0-9a-hjkmnp-tv-z]{26}$/.exec(text);
  if (id !== null) return `<${id[1]}_>`;
  return marks.find(([, pattern]) => pattern.test(text))?.[0] ?? text;
}

/**
 * Where an answer is not what a client that knew the recording could rely on. It may say more: fields and entries of lists that
 * are new are no difference.
 */
export function differences(recorded: unknown, actual: unknown, place = "answer"): string[] {
  if (Array.isArray(recorded)) return listDifferences(recorded, actual, place);
  if (typeof recorded === "object" && recorded !== null) {
    if (typeof actual !== "object" || actual === null || Array.isArray(actual))
      return [`${place} is no object`];
    return Object.entries(recorded).flatMap(([name, part]) =>
      name in actual
        ? differences(part, (actual as Record<string, unknown>)[name], `${place}.${name}`)
        : [`${place}.${name} is gone`],
    );
  }
  if (recorded === "<text>" && typeof actual === "string") return [];
  const shown = toRecording(actual);
  return shown === recorded
    ? []
    : [`${place} is ${JSON.stringify(shown)} where it was ${JSON.stringify(recorded)}`];
}

/** What was in the list must still be there, in the same order; something new may stand between. */
function listDifferences(recorded: readonly unknown[], actual: unknown, place: string): string[] {
  if (!Array.isArray(actual)) return [`${place} is no list`];
  let next = 0;
  for (const [index, part] of recorded.entries()) {
    const found = actual.findIndex((entry, at) => at >= next && differences(part, entry).length === 0);
    if (found < 0) return differences(part, actual[next], `${place}[${index}]`);
    next = found + 1;
  }
  return [];
}
