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
