import { invalidArgument } from "../errors/bursar-error.js";

/** The values of a path or a query. */
export type Parameters = Readonly<Record<string, unknown>>;

/** The address without a slash at its end. */
export function readBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalidArgument("baseUrl must be the http or https address of the service.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw invalidArgument("baseUrl must not contain credentials, a query or a fragment.");
  return url.href.replace(/\/+$/, "");
}

/** The ports that every `fetch` refuses, by its standard: those of other protocols. */
const forbiddenPorts =
  "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 " +
  "427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 " +
  "6566 6665 6666 6667 6668 6669 6679 6697 10080";

/** A port that `fetch` refuses would look like a lost connection, although nothing is sent. */
export function refuseForbiddenPort(baseUrl: string): void {
  const { port, origin } = new URL(baseUrl);
  if (port !== "" && forbiddenPorts.split(" ").includes(port))
    throw invalidArgument(`baseUrl is ${origin}, and fetch does not connect to port ${port}.`);
}

/** The path of an operation with its parameters filled in. */
export function fillPath(template: string, values: Parameters = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    // An empty segment or one of dots would lead to another operation.
    if (typeof value !== "string" || value === "" || /^\.{1,2}$/.test(value))
      throw invalidArgument(`${name} must be a string that is not empty.`);
    return encodeURIComponent(value);
  });
}

/** The query of a request; a parameter without a value is left out, and one with several values is repeated. */
export function formatQuery(values: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null)
        query.append(name, one instanceof Date ? one.toISOString() : String(one));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
