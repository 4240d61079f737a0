import { type BursarOptions, createBursar } from "@bursar/client";
import { createFakeRuntime } from "./fake-runtime.js";

interface SeenRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A response, or what `fetch` throws. */
export type Step = Response | Error | ((request: SeenRequest) => Response | Promise<Response>);

export const secret = "bsk_this-must-never-be-shown";

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "x-request-id": "req_1", ...headers },
  });
}

export function errorAnswer(status: number, code: string, headers: Record<string, string> = {}): Response {
  return json(
    status,
    { error: { code, message: `It is ${code}.`, request_id: "req_2", doc_url: "https://x.example" } },
    headers,
  );
}

/** An error as Node's `fetch` throws it. */
export function connectionError(code: string): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}

/** A service that answers with these steps, one after the other; tokens are issued beside them. */
export function scriptedService(steps: Step[], options: Partial<BursarOptions> = {}, random?: () => number) {
  const requests: SeenRequest[] = [];
  const tokenRequests: SeenRequest[] = [];
  const runtime = createFakeRuntime(random);
  const left = [...steps];
  const bursar = createBursar({
    baseUrl: "https://pay.example",
    credentials: { clientId: "cli_1", secret },
    runtime,
    fetch: async (url, { method = "GET", headers, body }) => {
      const request = {
        method,
        url,
        headers: headers as Record<string, string>,
        body: body as string | undefined,
      };
      if (url.endsWith("/oauth/token")) {
        tokenRequests.push(request);
        return json(200, {
          access_token: `token-${tokenRequests.length}`,
          token_type: "Bearer",
          expires_in: 900,
          scope: "",
        });
      }
      requests.push(request);
      const step = left.shift();
      if (step === undefined) throw new Error("the script has ended");
      if (step instanceof Error) throw step;
      return typeof step === "function" ? await step(request) : step;
    },
    ...options,
  });
  return { bursar, requests, tokenRequests, runtime, left };
}
