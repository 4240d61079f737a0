import { relative } from "node:path";
import type { Service } from "../main.js";
import { softwareVersion } from "../version.js";

/** What a newcomer sees when the sandbox is ready: where things are, and what to type next. */
export function banner({ url, dataLocation }: Service): string {
  const fromHere = relative(process.cwd(), dataLocation);
  const data = fromHere.startsWith("..") ? dataLocation : fromHere;
  return `
  Bursar ${softwareVersion} is ready.

    API    ${url}
    Docs   ${url}/docs
    Data   ${data}

  Try, in another terminal:

    TOKEN=$(npx bursar token)
    curl -s ${url}/v1/transactions -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: one" \\
      -H "Content-Type: application/json" -d '{"reference": "first", "asset": "USD", "amount": "125.50"}'
    curl -s ${url}/v1/transactions -H "Authorization: Bearer $TOKEN"
    curl -s ${url}/v1/orderbook?depth=5 -H "Authorization: Bearer $TOKEN"

  Ctrl-C stops all of it.
`;
}
