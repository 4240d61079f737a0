import { describe, expect, it } from "vitest";
import { curlOf } from "./curl";

describe("a command for a shell", () => {
  it("quotes what others have written", () => {
    const body = { reference: "it's $(reboot) `x`" };
    expect(
      curlOf(
        { method: "POST", path: "/v1/transactions", body, idempotencyKey: "k'1" },
        "https://pay.example",
      ),
    ).toBe(`curl -X POST 'https://pay.example/v1/transactions' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Idempotency-Key: k'\\''1' \\
  -H 'Content-Type: application/json' \\
  --data-raw '{"reference":"it'\\''s $(reboot) \`x\`"}'`);
  });
});
