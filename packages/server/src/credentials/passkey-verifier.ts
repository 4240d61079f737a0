import type { ConsoleAddress } from "../app/people/console-address.js";
import { canonicalCoseKey } from "../app/people/cose-key.js";
import type { PasskeyVerifier } from "../app/people/passkey.js";

/** EdDSA, ES256 and RS256: what authenticators offer. */
const algorithms = [-8, -7, -257];

/**
 * More than a key of RSA with 4096 bits has. Nothing proves how a key was made, so somebody could add keys of any size, which are read with
 * every request of their person.
 */
const publicKeyBytesMax = 1024;
const credentialIdLengthMax = 1364;

/** Loaded when the first person comes: it takes 0.1 s, and programs need none of it. */
const load = () => import("@simplewebauthn/server");
const loadHelpers = () => import("@simplewebauthn/server/helpers");

/**
 * The pages ask for no attestation, and browsers then give none, or one by the new key itself. Any other is refused unread: the library
 * would ask for the revocations of a certificate that the caller has made, at an address of the caller's choice.
 */
async function hasNoCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await loadHelpers();
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const format = decoded.get("fmt");
  return format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined);
}

/** Whatever is wrong with an answer of an authenticator, it is refused; the library throws an error for most of it. */
export function createPasskeyVerifier(addressOf: () => ConsoleAddress): PasskeyVerifier {
  return {
    verifyRegistration: async ({ id, client_data, attestation_object }, isChallenge) => {
      const { verifyRegistrationResponse } = await load();
      const { rpId, origins } = addressOf();
      try {
        if (!(await hasNoCertificate(attestation_object))) return undefined;
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: {
            ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
            response: { clientDataJSON: client_data, attestationObject: attestation_object },
          },
          expectedChallenge: isChallenge,
          expectedOrigin: [...origins],
          expectedRPID: rpId,
          requireUserVerification: true,
          supportedAlgorithmIDs: algorithms,
        });
        if (!verified || registrationInfo.credential.id !== id) return undefined;
        const { publicKey: given, counter } = registrationInfo.credential;
        if (given.length > publicKeyBytesMax || id.length > credentialIdLengthMax) return undefined;
        const publicKey = canonicalCoseKey(given);
        return publicKey && { credentialId: id, publicKey: publicKey.toString("base64url"), counter };
      } catch {
        return undefined;
      }
    },
    verifyAssertion: async ({ id, client_data, authenticator_data, signature }, isChallenge, passkey) => {
      const { verifyAuthenticationResponse } = await load();
      const { rpId, origins } = addressOf();
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: {
            ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
            response: { clientDataJSON: client_data, authenticatorData: authenticator_data, signature },
          },
          expectedChallenge: isChallenge,
          expectedOrigin: [...origins],
          expectedRPID: rpId,
          requireUserVerification: true,
          credential: {
            id: passkey.credentialId,
            publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
            counter: passkey.counter,
          },
        });
        return verified ? { counter: authenticationInfo.newCounter } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
