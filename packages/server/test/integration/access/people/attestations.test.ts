import { afterEach, describe, expect, it, vi } from "vitest";
import { createPasskeyVerifier } from "../../../../src/credentials/passkey-verifier.js";
import { createAuthenticator, type Faults } from "../../../harness/people/authenticator.js";

const origin = "http://localhost";
const verifier = createPasskeyVerifier(() => ({
  url: `${origin}/console`,
  rpId: "localhost",
  origins: [origin],
}));

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Signed by nobody else. It says that its revocations are at http://127.0.0.1:9/crl. */
const certificate = Buffer.from(
  "MIIBZzCCAQygAwIBAgIUG5NZBlSYmjYoa62xn+3qdzEYFdMwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAgFw0yNjExMTcyMzM1MTJaGA8yMTI2MTAyNDIzMzUxMlowDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM1AtuNEkhQhGPZzMnqhWA6Faw9KBYzv37K7uwZhZjAzlwW5bO4rOJoof1JfvkgaX2mHgrLD8Q3La6aX4NCch0yjSjBIMCcGA1UdHwQgMB4wHKAaoBiGFmh0dHA6Ly8xMjcuMC4wLjE6OS9jcmwwHQYDVR0OBBYEFA9oRKU+Xy/T5QUr90SXjEhlzcBzMAoGCCqGSM49BAMCA0kAMEYCIQDNcxTe/mShSpxjVnvoNnHCz397NVD+Aa+ahYGTwhP0awIhAKoLHzzu4pKWxsZxgLkSwplRKEZuSq9V3vYdrr8fC71G",
  "base64",
);

/** Two people could otherwise register one passkey: it is recognised by its id as it is stored. */
it.each([
  ["with padding", (id: string) => `${id}=`],
  ["in the alphabet of base64", (id: string) => id.replaceAll("-", "+").replaceAll("_", "/")],
  ["with bits after its end", (id: string) => id.slice(0, -1) + alphabet[alphabet.indexOf(id.slice(-1)) + 1]],
  ["with a line break", (id: string) => `${id}\n`],
])("a credential id that is encoded %s is refused", async (_, encode) => {
  const made = createAuthenticator(origin).register({ challenge: "Y2hhbGxlbmdl", user_handle: "dXNlcg" });
  const from = Buffer.from(made.id, "base64url");
  // An id in which the two alphabets differ.
  const to = Buffer.alloc(from.length, 0xfb);
  const attestation = Buffer.from(made.attestation_object, "base64url");
  to.copy(attestation, attestation.indexOf(from));
  const id = to.toString("base64url");
  const renamed = { ...made, id, attestation_object: attestation.toString("base64url") };
  expect(await verifier.verifyRegistration(renamed, () => true)).toMatchObject({ credentialId: id });
  const other = encode(id);
  expect(Buffer.from(other, "base64url")).toEqual(to);
  expect(await verifier.verifyRegistration({ ...renamed, id: other }, () => true)).toBeUndefined();
});

describe("a passkey that says how it was made", () => {
  afterEach(() => vi.restoreAllMocks());

  const register = async (attestation: Faults["attestation"] & object) => {
    const challenge = { challenge: "Y2hhbGxlbmdl", user_handle: "dXNlcg" };
    const made = createAuthenticator(origin).register(challenge, { attestation });
    return await verifier.verifyRegistration(made, () => true);
  };

  it.each(["apple", "android-key", "android-safetynet", "tpm", "fido-u2f", "packed"])(
    "by a certificate of the format %s is refused, and the address in the certificate is not asked",
    async (format) => {
      const asked = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("not reached"));
      expect(await register({ format, certificates: [certificate] })).toBeUndefined();
      expect(asked).not.toHaveBeenCalled();
    },
  );

  it("by its own signature is accepted", async () => {
    expect(await register({ format: "packed" })).toMatchObject({ counter: 0 });
  });
});
