import type { Session } from "../engine/session.js";
import type { Exchange } from "../http/send.js";

/** An exchange as reports show it: strings, bounded, without secrets. */
export interface ShownExchange {
  readonly index: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly method: string;
  readonly url: string;
  readonly request_headers: readonly (readonly [string, string])[];
  readonly request_body?: string;
  readonly status?: number;
  readonly response_headers?: readonly (readonly [string, string])[];
  readonly response_body?: string;
  readonly failure?: string;
}

const bodyCharactersMax = 4000;
const headersMax = 60;
const headerCharactersMax = 1000;
const removed = "[removed]";
const alwaysRemoved = /^(cookie|set-cookie|proxy-authorization|x-api-key)$/i;
const secretMember =
  /("[^"]*(?:secret|password|access_token|refresh_token|private_key|api_key)[^"]*"\s*:\s*")((?:[^"\\]|\\.)*)/gi;

/** Replaces every secret of the run by the name of a variable, also where it is encoded, and removes what looks like another one. */
export function createRedactor(session: Pick<Session, "secrets">) {
  const forms = [...session.secrets]
    .filter(([secret]) => secret.length >= 4)
    .flatMap(([secret, name]) =>
      [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].map(
        (form) => [form, name] as const,
      ),
    )
    // Longer ones first: one secret can be a part of another.
    .sort(([one], [other]) => other.length - one.length);
  const text = (value: string) =>
    forms.reduce((done, [secret, name]) => done.replaceAll(secret, name), value);
  const body = (value: string) => cut(text(value).replace(secretMember, `$1${removed}`), bodyCharactersMax);
  const header = ([name, value]: readonly [string, string]): [string, string] => {
    if (alwaysRemoved.test(name)) return [name, removed];
    const shown = text(value);
    const isKnown = shown !== value || value === "Bearer " || value.includes("conformance.not-a.token");
    if (/^authorization$/i.test(name) && !isKnown) return [name, removed];
    return [cut(name, headerCharactersMax), cut(shown, headerCharactersMax)];
  };
  const exchange = ({
    index,
    startedAt,
    durationMs,
    request,
    response,
    failure,
  }: Exchange): ShownExchange => ({
    index,
    started_at: startedAt.toISOString(),
    duration_ms: Math.round(durationMs),
    method: request.method,
    url: text(request.url.href),
    request_headers: request.headers.map(header),
    ...(request.body === undefined ? {} : { request_body: body(request.body) }),
    ...(response === undefined
      ? {}
      : {
          status: response.status,
          response_headers: response.headers.slice(0, headersMax).map(header),
          response_body: body(response.body.toString("utf8")),
        }),
    ...(failure === undefined ? {} : { failure: text(failure) }),
  });
  return { text: (value: string) => cut(text(value), bodyCharactersMax), exchange };
}

function cut(value: string, max: number): string {
  return value.length <= max ? value : `${value.slice(0, max)}… (${value.length - max} more characters)`;
}
