import { type Progress, readFailure } from "./failed-connections.js";
import type { Runtime } from "./runtime.js";

/** One HTTP request, with everything that is sent. */
export interface OutgoingRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** What came of sending it once. A response counts only as a whole, with its body. */
export type Exchange =
  | { kind: "response"; status: number; headers: Headers; body: string }
  | {
      kind: "failure";
      code: "CONNECTION_FAILED" | "TIMEOUT" | "ABORTED";
      progress: Progress;
      /** The code of the platform's error, if there is one. */
      reason?: string | undefined;
      cause: unknown;
    };

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The largest response that is read. A batch of 1000 transactions has about 2 MB. */
const responseBytesMax = 32 * 1024 * 1024;

/** Sends a request once. The timeout and the caller's signal cover the body too. */
export async function exchange(
  { fetch, runtime }: { fetch: Fetch; runtime: Runtime },
  request: OutgoingRequest,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Exchange> {
  if (signal?.aborted)
    return { kind: "failure", code: "ABORTED", progress: "not_connected", cause: signal.reason };
  const controller = new AbortController();
  let isLate = false;
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const cancelTimer = runtime.schedule(timeoutMs, () => {
    isLate = true;
    controller.abort(new Error("the request took too long"));
  });
  try {
    const { method, url, headers, body } = request;
    const response = await untilAborted(
      fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: controller.signal,
        // A redirect would carry the token to another address.
        redirect: "manual",
        cache: "no-store",
        credentials: "omit",
      }),
      controller.signal,
    );
    const text = await untilAborted(readBody(response), controller.signal);
    return { kind: "response", status: response.status, headers: response.headers, body: text };
  } catch (cause) {
    const code = signal?.aborted ? "ABORTED" : isLate ? "TIMEOUT" : "CONNECTION_FAILED";
    controller.abort(cause);
    if (code !== "CONNECTION_FAILED") return { kind: "failure", code, progress: "perhaps_sent", cause };
    return { kind: "failure", code, ...readFailure(cause), cause };
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Ends with the signal even if what it waits for does not. */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

async function readBody(response: Response): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > responseBytesMax) {
      await reader.cancel();
      throw new Error(`the response is larger than ${responseBytesMax} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
