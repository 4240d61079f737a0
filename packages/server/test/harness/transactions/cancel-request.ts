import type { Transaction } from "@bursar/protocol";
import { expect } from "vitest";
import type { transactionsOf } from "./transactions-client.js";

/** A transaction that its owner has just asked to cancel says so, under another ETag; its events say nothing of it. */
export async function assertCancelRequested(
  api: ReturnType<typeof transactionsOf>,
  before: Transaction,
): Promise<void> {
  const { id } = before;
  expect(before.cancel_request).toBeNull();
  const request = (await api.read(id)).body.cancel_request;
  expect(request).toEqual({
    requested_at: expect.any(String),
    requested_by: { type: "client", client_id: before.created_by },
  });
  await api.send("POST", `/v1/transactions/${id}/cancel`);
  const { body: again, headers } = await api.read(id);
  expect(again.cancel_request).toEqual(request);
  const tag = headers.get("etag") ?? "";
  expect((await api.read(id, { "if-none-match": tag })).status).toBe(304);
  const earlier = tag.replace(/c(-[0-9a-z]{8})?"$/, '$1"');
  expect((await api.read(id, { "if-none-match": earlier })).status).toBe(200);
  // An event that is read again must be the same.
  const events = await api.send("GET", `/v1/events?subject_id=${id}`);
  const { data } = events.body as unknown as { data: { data: { transaction: Transaction } }[] };
  expect(data.length).toBeGreaterThan(0);
  for (const event of data) expect(event.data.transaction.cancel_request).toBeNull();
}
