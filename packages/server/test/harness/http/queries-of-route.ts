import type { Route } from "../../../src/http/route.js";

interface Parameter {
  enum?: string[];
  /** Of one that can be repeated. */
  items?: { enum: string[] };
}

/** The transaction needs no approval, only what waits for one has a deadline, and an address is one of a network. The query has run by then. */
export function refusalOf(path: string, query: string): number | undefined {
  if (path.startsWith("/v1/transactions/:id/approvals")) return 409;
  const isOfNoDeadline = query.includes("order=deadline") && /state=(?!awaiting_approval)/.test(query);
  const isOfNoNetwork = path === "/v1/destinations" && /^(?!.*network=).*address=/.test(query);
  return isOfNoDeadline || isOfNoNetwork ? 400 : undefined;
}

/** No parameter, each parameter alone, and each pair of them, as query strings; those that are required are always there. */
export function queriesOf({ query }: Route, values: Readonly<Record<string, readonly string[]>>): string[] {
  const schema = query as { properties?: Record<string, Parameter>; required?: string[] } | undefined;
  const required = new Set(schema?.required);
  const properties = Object.entries(schema?.properties ?? {}).filter(([name]) => name !== "cursor");
  const known = properties.map(([name, { enum: one, items }]) => {
    const all = items === undefined ? (one ?? values[name]) : [...items.enum, ...(values[name] ?? [])];
    if (all === undefined) throw new Error(`the test of plans needs values for the parameter ${name}`);
    const texts = all
      .map((value) => (items === undefined ? [value] : value.split(",")))
      .map((some) => some.map((value) => `${name}=${encodeURIComponent(value)}`).join("&"));
    return { texts, isRequired: required.has(name) };
  });
  const options = known.filter(({ isRequired }) => !isRequired).map(({ texts }) => texts);
  const pairs = options.flatMap((some, index) =>
    options
      .slice(index + 1)
      .flatMap((others) => some.flatMap((one) => others.map((other) => `${one}&${other}`))),
  );
  let queries = ["", ...options.flat(), ...pairs];
  for (const { texts, isRequired } of known)
    if (isRequired)
      queries = texts.flatMap((text) => queries.map((rest) => (rest === "" ? text : `${text}&${rest}`)));
  return queries;
}
