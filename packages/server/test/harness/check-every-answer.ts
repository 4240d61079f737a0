import type { AnswerFaults } from "./answer-faults.js";

/**
 * Runs before every test file: whatever a test fetches from a service of ours must be as the OpenAPI document says, on top of
 * what the test itself looks at. An answer is ours where it carries our version.
 */
const bare = globalThis.fetch;
let loading: Promise<AnswerFaults> | undefined;

/** Loaded with the first answer: most files never fetch, and 0.4 s for each of them would be half a minute of every run. */
async function loadAnswerFaults(): Promise<AnswerFaults> {
  const [{ createAnswerFaults }, { readApiDocument }] = await Promise.all([
    import("./answer-faults.js"),
    import("./api-document.js"),
  ]);
  return createAnswerFaults(readApiDocument());
}

globalThis.fetch = async (input, init) => {
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
