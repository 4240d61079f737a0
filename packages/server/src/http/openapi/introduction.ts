/** The first page of the API reference, in Markdown. */
export function introduction(publicUrl: string): string {
  return `Bursar moves digital assets between wallets exactly once, reports every change, and runs order books.

## Start

Get an access token, then create a transaction. Three fields are enough: the tenant's primary wallet pays its settlement wallet.

\`\`\`sh
TOKEN=$(curl -s -u "$CLIENT_ID:$CLIENT_SECRET" \\
  -d grant_type=client_credentials \\
  ${publicUrl}/oauth/token | jq -r .access_token)

curl ${publicUrl}/v1/transactions \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -d '{"reference": "invoice-2041",
       "asset": "USD", "amount": "125.50"}'
\`\`\`

## What all routes have in common

- **Errors** have one body, \`Error\`. Decide by \`error.code\`; \`error.doc_url\` leads to its entry in the [error reference](${publicUrl}/docs/reference/errors).
- **Idempotency**: a request with an \`Idempotency-Key\` can be repeated safely. See [transactions](${publicUrl}/docs/guides/transactions).
- **Lists** are read page by page with \`cursor\`, newest first.
- **Amounts** are decimal strings, never JSON numbers, and are never rounded.
- **Quotas**: \`RateLimit\` says what is left, \`Retry-After\` how long to wait. See [limits](${publicUrl}/docs/operating/limits).
- **Requests** have an id, \`X-Request-Id\`, which can be chosen by the client and is in every log line.
- **Versions**: new fields, events and values may be added. See [versions](${publicUrl}/docs/reference/versioning).

The live stream is described by [asyncapi.json](${publicUrl}/asyncapi.json). The [guides](${publicUrl}/docs/guides) explain the rest.
`;
}
