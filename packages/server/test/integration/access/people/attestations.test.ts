import { afterEach, describe, expect, it, vi } from "vitest";
import { createPasskeyVerifier } from "../../../../src/credentials/passkey-verifier.js";
import { createAuthenticator, type Faults } from "../../../harness/people/authenticator.js";

const origin = "http://localhost";
const verifier = createPasskeyVerifier(() => ({
  url: `${origin}/console`,
  rpId: "localhost",
  origins: [origin],
}));

/** Signed by nobody else. It says that its revocations are at http://127.0.0.1:9/crl. */
const certificate = Buffer.from(
  "MIIBZzCCAQygAwIBAgIUG5NZBlSYmjYoa62xn+3qdzEYFdMwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAgFw0yNjExMTcyMzM1MTJaGA8yMTI2MTAyNDIzMzUxMlowDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM1AtuNEkhQhGPZzMnqhWA6Faw9KBYzv37K7uwZhZjAzlwW5bO4rOJoof1JfvkgaX2mHgrLD8Q3La6aX4NCch0yjSjBIMCcGA1UdHwQgMB4wHKAaoBiGFmh0dHA6Ly8xMjcuMC4wLjE6OS9jcmwwHQYDVR0OBBYEFA9oRKU+Xy/T5QUr90SXjEhlzcBzMAoGCCqGSM49BAMCA0kAMEYCIQDNcxTe/mShSpxjVnvoNnHCz397NVD+Aa+ahYGTwhP0awIhAKoLHzzu4pKWxsZxgLkSwplRKEZuSq9V3vYdrr8fC71G",
  "base64",
);

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
