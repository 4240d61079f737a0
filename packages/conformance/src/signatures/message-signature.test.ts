import { expect, it } from "vitest";
import { readSignatures, signatureBase } from "./message-signature.js";

const message = (headers: Record<string, string>) => ({
  method: "POST",
  url: new URL("https://example.com/foo?param=Value&Pet=dog"),
  header: (name: string) => headers[name],
});

/** The request of appendix B.2 of the RFC. */
const rfcHeaders = {
  host: "example.com",
  date: "Tue, 20 Apr 2021 02:07:55 GMT",
  "content-type": "application/json",
  "signature-input":
    'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
  signature: "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:",
};

it("builds the signature base of the RFC's own example", () => {
  const [one] = readSignatures(message(rfcHeaders)) ?? [];
  expect(one?.parameters.get("keyid")).toBe("test-shared-secret");
  expect(signatureBase(one?.covered ?? [], one?.params ?? "", message(rfcHeaders))).toBe(
    [
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@authority": example.com',
      '"content-type": application/json',
      '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    ].join("\n"),
  );
});

it.each([
  [{ "signature-input": 'sig1=("a")', signature: "sig2=:AA==:" }],
  [{ "signature-input": "sig1=(a)", signature: "sig1=:AA==:" }],
  [{ "signature-input": `sig1=(${'"'.repeat(9000)})`, signature: "sig1=:AA==:" }],
  [{ signature: "sig1=:AA==:" }],
])("%# headers that do not belong together have no signatures", (headers) => {
  expect(readSignatures(message(headers))).toBeUndefined();
});
