import type { TestService } from "./test-service.js";

interface PolicyAnswer {
  status: number;
  headers: Headers;
  body: {
    version: number;
    document: unknown;
    updated_at: string | null;
    error?: { code: string; message: string; details?: { path: string; reason: string; rule?: string }[] };
  };
}

/** What somebody who keeps a tenant's policy does. */
export function policyOf(service: TestService, token: string) {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<PolicyAnswer> => {
    const response = await service.call(method, path, token, body, headers);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as PolicyAnswer["body"],
    };
  };
  const read = (query = "") => send("GET", `/v1/policy${query}`);
  const write = (document: unknown, ifMatch: string) =>
    send("PUT", "/v1/policy", document, { "if-match": ifMatch });
  return {
    send,
    read,
    write,
    /** Writes it over the version in force. */
    replace: async (document: unknown) => await write(document, (await read()).headers.get("etag") ?? ""),
  };
}
