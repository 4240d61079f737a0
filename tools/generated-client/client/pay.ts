import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

/**
 * A client as a user of the API would write it, with openapi-fetch and the types that openapi-typescript generates. The test of generated
 * clients compiles it under strict TypeScript, and lets it pay.
 */
export async function pay(
  baseUrl: string,
  credentials: { clientId: string; secret: string },
): Promise<components["schemas"]["Transaction"]> {
  const api = createClient<paths>({ baseUrl });
  const issued = await api.POST("/oauth/token", {
    body: {
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.secret,
    },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (issued.error !== undefined) throw new Error(issued.error.error);
  api.use({
    onRequest: ({ request }) => {
      request.headers.set("authorization", `Bearer ${issued.data.access_token}`);
    },
  });
  const created = await api.POST("/v1/transactions", {
    params: { header: { "Idempotency-Key": crypto.randomUUID() } },
    body: { reference: "invoice-2041", asset: "USD", amount: "125.50" },
  });
  if (created.error !== undefined)
    throw new Error(`${created.error.error.code} ${created.error.error.doc_url}`);
  let transaction = created.data;
  let tag = created.response.headers.get("etag") ?? "";
  while (transaction.state === "accepted" || transaction.state === "processing") {
    const read = await api.GET("/v1/transactions/{id}", {
      params: { path: { id: transaction.id }, header: { "If-None-Match": tag, Prefer: "wait=30" } },
    });
    if (read.response.status === 304) continue;
    if (read.data === undefined) throw new Error(read.error.error.code);
    transaction = read.data;
    tag = read.response.headers.get("etag") ?? "";
  }
  return transaction;
}

/** What a generated client must refuse to compile: a number where the contract has a string, and a missing key. */
export async function cannotCompile(baseUrl: string): Promise<void> {
  const api = createClient<paths>({ baseUrl });
  await api.POST("/v1/transactions", {
    params: { header: { "Idempotency-Key": "1" } },
    // @ts-expect-error: amounts are strings
    body: { reference: "invoice-2041", asset: "USD", amount: 125.5 },
  });
  await api.POST("/v1/transactions", {
    // @ts-expect-error: the key is required
    params: { header: {} },
    body: { reference: "invoice-2041", asset: "USD", amount: "125.50" },
  });
}
