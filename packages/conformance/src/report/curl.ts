import type { ShownExchange } from "./redact.js";

const variables =
  /(\$(?:TOKEN|SECOND_TOKEN|REVOKED_TOKEN|ALTERED_TOKEN|EXPIRED_TOKEN|LIMITED_TOKEN|OTHER_TOKEN|BASIC|CLIENT_SECRET|WEBHOOK_SECRET|KEY\d{1,3}))/;

/** Minimal Linux systems have no `uuidgen`, and others have no such file. */
const newUuid = "uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid";

/** Commands that repeat the requests of a check. */
export interface CurlCommands {
  /** Makes new keys: a service remembers those of the run. Absent if there is none. */
  readonly setup?: string;
  /** One for each exchange; those that were sent together are sent together again. */
  readonly commands: readonly string[];
}

/** Keys that the kit has made: UUIDs, or the beginning of one for a target with a shorter limit. */
const ownKey = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,32})$/;

const newKeyLike = (key: string) =>
  key.includes("-") ? `$(${newUuid})` : `$( (${newUuid}) | tr -d - | cut -c1-${key.length})`;

export function curlCommands(exchanges: readonly ShownExchange[]): CurlCommands {
  const keys = new Map<string, string>();
  const renamed = exchanges.map((exchange) => ({
    ...exchange,
    request_headers: exchange.request_headers.map(([name, value]): readonly [string, string] => {
      if (!/^idempotency-key$/i.test(name) || !ownKey.test(value)) return [name, value];
      keys.set(value, keys.get(value) ?? `KEY${keys.size + 1}`);
      return [name, `$${keys.get(value)}`];
    }),
  }));
  const commands = renamed.map((exchange, at) => {
    const isLast = renamed[at + 1]?.concurrent !== true;
    return (
      pauseBefore(exchange) +
      curlOf(exchange) +
      (exchange.concurrent !== true ? "" : isLast ? " & wait" : " &")
    );
  });
  const setup = makeKeys([...keys.keys()]);
  return { commands, ...(setup === "" ? {} : { setup }) };
}

/** More of one form are made by a loop, so that they do not hide the commands. */
const namedMax = 2;

function makeKeys(keys: readonly string[]): string {
  const byForm = new Map<string, number[]>();
  for (const [at, key] of keys.entries()) {
    const form = newKeyLike(key);
    byForm.set(form, [...(byForm.get(form) ?? []), at + 1]);
  }
  const made = [...byForm].map(([form, numbers]) =>
    numbers.length > namedMax
      ? `for n in ${listOf(numbers)}; do export "KEY$n=${form}"; done`
      : numbers.map((number) => `KEY${number}=${form}`).join(" "),
  );
  return made.join("; ");
}

const listOf = (numbers: readonly number[]) =>
  (numbers.at(-1) ?? 0) - (numbers[0] ?? 0) === numbers.length - 1
    ? `$(seq ${numbers[0]} ${numbers.at(-1)})`
    : numbers.join(" ");

/** What a check shows by waiting, such as a key that is forgotten, is not repeated without the wait. */
const pauseBefore = ({ paused_ms: pausedMs = 0 }: ShownExchange) =>
  pausedMs === 0 ? "" : `sleep ${pausedMs / 1000}; `;

/** A command that repeats a request. Secrets are variables, which a shell fills in. */
export function curlOf(exchange: ShownExchange): string {
  const { method, url, request_headers, request_body, request_body_encoding: encoding } = exchange;
  const parts = ["curl", "-sS", "-i", ...hangUp(exchange), ...asIs(exchange), "-X", method, quote(url)];
  // A header without a value needs a semicolon, or curl leaves it out.
  for (const [name, value] of request_headers)
    parts.push("-H", quote(value.trim() === "" ? `${name};` : `${name}: ${value}`));
  if (request_body !== undefined)
    parts.push("--data-binary", encoding === undefined ? quote(request_body) : "@-");
  const command = parts.join(" ");
  return encoding === undefined ? command : `echo ${request_body} | base64 -d | ${command}`;
}

/** curl counts from before the connection, which takes a moment too. */
const connectMs = 20;
const hangUp = ({ hang_up_ms: hangUpMs }: ShownExchange) =>
  hangUpMs === undefined ? [] : ["--max-time", String((hangUpMs + connectMs) / 1000)];

/** curl removes dots alone between slashes too. */
const asIs = ({ url }: ShownExchange) => (/\/\.{1,2}(\/|$)/.test(url) ? ["--path-as-is"] : []);

/** Single quotes around everything, except that variables are in double quotes. */
export function quote(text: string): string {
  return (
    text
      .split(variables)
      .filter((part) => part !== "")
      .map((part) => (variables.test(part) ? `"${part}"` : `'${part.replaceAll("'", `'\\''`)}'`))
      .join("") || "''"
  );
}
