import { describe, expect, it } from "vitest";
import { deliveryLine, plainStyle, type ReceivedDelivery } from "./delivery-line.js";

const delivery: ReceivedDelivery = {
  at: new Date(2026, 0, 2, 3, 4, 5, 6),
  headers: { "webhook-attempt": "1" },
  body: JSON.stringify({
    event: "transaction.updated",
    delivery_id: "dlv_1",
    sequence: 41,
    data: { transaction: { id: "tx_1", state: "completed", version: 2 }, previous_state: "accepted" },
  }),
  verification: { verified: true },
  isRepeated: false,
  status: 200,
};
const line = (changed: Partial<ReceivedDelivery> = {}) =>
  deliveryLine({ ...delivery, ...changed }, plainStyle);

describe("a delivery on one line", () => {
  it("shows the time, event, subject, sequence, attempt and verification", () => {
    expect(line()).toBe("03:04:05.006  transaction.updated  tx_1  completed  v2  #41  attempt 1  verified");
  });

  it("shows why it is not verified, that it is repeated, and the status of the response", () => {
    const verification = { verified: false, reason: "too old" } as const;
    expect(line({ verification, isRepeated: true, status: 503 })).toMatch(
      /attempt 1 {2}NOT VERIFIED \(too old\) {2}repeated {2}answered 503$/,
    );
  });

  it("names any kind of subject", () => {
    const body = JSON.stringify({
      event: "wallet.updated",
      data: { wallet: { id: "wlt_1", state: "active" } },
    });
    expect(line({ body })).toMatch(/wallet\.updated +wlt_1 {2}active {2}- {2}-/);
  });

  it.each(["", "null", "[]", "not JSON", '{"data":null}', '{"event":{},"data":{"a":{"id":[]}}}'])(
    "is formatted for the body %j",
    (body) => {
      expect(line({ body, headers: {} })).toMatch(/^03:04:05\.006 {2}.*attempt \? {2}verified$/);
    },
  );

  it("contains nothing that moves the cursor, breaks the line or fills the screen", () => {
    const body = JSON.stringify({ event: "a\u001b[2Jb\nc\u202e", data: { x: { id: "i".repeat(1000) } } });
    const written = line({ body });
    expect(written).toContain("a\\u{1b}[2Jb\\u{a}c\\u{202e} ");
    expect(written).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(written.length).toBeLessThan(250);
  });
});
