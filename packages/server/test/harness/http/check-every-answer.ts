import type { AnswerFaults } from "./answer-faults.js";

/**
 * Runs before every test file: what a test fetches from the service must match the OpenAPI document, in addition to what the
 * test itself checks. A response comes from the service if it carries the service's version.
 */
const bare = globalThis.fetch;
/** Files of one worker share their globals: `fetch` is replaced by the first of them. */
const isChecked = Symbol.for("bursar.checked-fetch");
let loading: Promise<AnswerFaults> | undefined;

/** Loaded with the first response, because it takes 0.4 s and many files never fetch. */
async function loadAnswerFaults(): Promise<AnswerFaults> {
  const [{ createAnswerFaults }, { readApiDocument }] = await Promise.all([
    import("./answer-faults.js"),
    import("./api-document.js"),
  ]);
  return createAnswerFaults(readApiDocument());
}

const checkedFetch: typeof fetch = async (input, init) => {
  const response = await bare(input, init);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const mayHaveBody = isJson || response.headers.get("content-length") === "0" || response.status === 204;
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  if (!response.headers.has("bursar-version") || !mayHaveBody || method === "HEAD") return response;
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  if (pathname === "/openapi.json") return response;
  const body = await response.clone().text();
  loading ??= loadAnswerFaults();
  const faultsOf = await loading;
  const { status, headers } = response;
  const faults = faultsOf({ method, path: pathname, status, headers, body });
  if (faults.length > 0)
    throw new Error(`${method} ${pathname} answered ${status}, which ${faults.join("; ")}`);
  return response;
};

if (!(isChecked in bare)) globalThis.fetch = Object.assign(checkedFetch, { [isChecked]: true });
