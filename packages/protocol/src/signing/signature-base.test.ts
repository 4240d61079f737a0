import { describe, expect, it } from "vitest";
import { readSignature, type SignedMessage, signatureBase } from "./signature-base.js";

/** The test request of RFC 9421, appendix B.2. */
const headers: Record<string, string> = {
  host: "example.com",
  date: "Tue, 20 Apr 2021 02:07:55 GMT",
  "content-type": "application/json",
  "content-digest":
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
  "content-length": "18",
};
const message: SignedMessage = {
  method: "POST",
  targetUri: "https://example.com/foo?param=Value&Pet=dog",
  header: (name) => headers[name],
};

describe("the signature base", () => {
  it.each([
    [
      "B.2.5",
      'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
      `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@authority": example.com
"content-type": application/json
"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`,
    ],
    [
      "B.2.6",
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`,
    ],
  ])("is that of RFC 9421, appendix %s", (_name, input, base) => {
    const label = input.split("=")[0] ?? "";
    const signature = readSignature(input, `${label}=:AAAA:`, label);
    expect(signature && signatureBase(signature.components, signature.params, message)).toBe(base);
  });

  it("covers the whole target and the query", () => {
    expect(signatureBase(["@target-uri", "@query", "@scheme"], "()", message)).toBe(
      `"@target-uri": https://example.com/foo?param=Value&Pet=dog\n"@query": ?param=Value&Pet=dog\n"@scheme": https\n"@signature-params": ()`,
    );
  });

  it.each([["x-missing"], ["@status"], ["@unknown"]])(
    "cannot be made of %s, which the request lacks",
    (name) => {
      expect(signatureBase([name], "()", message)).toBeUndefined();
    },
  );

  it.each([
    ["not a dictionary", "(((", "sig1=:AAAA:"],
    ["another label", 'sig2=("date")', "sig1=:AAAA:"],
    ["no signature", 'sig1=("date")', "sig2=:AAAA:"],
    ["a signature that is no bytes", 'sig1=("date")', "sig1=AAAA"],
    ["an item instead of a list", 'sig1="date"', "sig1=:AAAA:"],
    ["a component twice", 'sig1=("date" "date")', "sig1=:AAAA:"],
    ["a component with a parameter", 'sig1=("date";sf)', "sig1=:AAAA:"],
    ["a component that is a token", "sig1=(date)", "sig1=:AAAA:"],
  ])("refuses %s", (_what, input, value) => {
    expect(readSignature(input, value, "sig1")).toBeUndefined();
  });
});
