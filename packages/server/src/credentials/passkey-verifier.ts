import type { ConsoleAddress } from "../app/people/console-address.js";
import type { PasskeyVerifier } from "../app/people/passkey.js";
import { canonicalCoseKey, ed25519KeyOf } from "../app/people/passkeys/cose-key.js";
import { isEd25519PublicKey } from "./ed25519-point.js";

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
 * The key of a new passkey, before its signature is verified: that could take long. The pages ask for no attestation, and browsers then give
 * none, or one by the new key itself. Any other is refused unread: the library would ask for the revocations of a certificate that the
 * caller has made, at an address of the caller's choice.
 */
async function readNewKey(attestationObject: string): Promise<Buffer | undefined> {
  const { decodeAttestationObject, parseAuthenticatorData } = await loadHelpers();
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const format = decoded.get("fmt");
  if (format !== "none" && (format !== "packed" || decoded.get("attStmt").get("x5c") !== undefined))
    return undefined;
  return readKey(parseAuthenticatorData(decoded.get("authData")).credentialPublicKey);
}

/** The key in its canonical encoding; undefined if it is none that a device makes. */
function readKey(given: Uint8Array | undefined): Buffer | undefined {
  if (given === undefined || given.length > publicKeyBytesMax) return undefined;
  const key = canonicalCoseKey(given);
  const ed25519 = key && ed25519KeyOf(key);
  return ed25519 === undefined || isEd25519PublicKey(ed25519) ? key : undefined;
}

/** Whatever is wrong with an answer of an authenticator, it is refused; the library throws an error for most of it. */
export function createPasskeyVerifier(addressOf: () => ConsoleAddress): PasskeyVerifier {
  return {
    verifyRegistration: async ({ id, client_data, attestation_object }, isChallenge) => {
      const { verifyRegistrationResponse } = await load();
      const { rpId, origins } = addressOf();
      try {
        const publicKey = await readNewKey(attestation_object);
        if (publicKey === undefined || id.length > credentialIdLengthMax) return undefined;
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
        const { counter } = registrationInfo.credential;
        return { credentialId: id, publicKey: publicKey.toString("base64url"), counter };
      } catch {
        return undefined;
      }
    },
    verifyAssertion: async ({ id, client_data, authenticator_data, signature }, isChallenge, passkey) => {
      const { verifyAuthenticationResponse } = await load();
      const { rpId, origins } = addressOf();
      try {
        const publicKey = readKey(Buffer.from(passkey.publicKey, "base64url"));
        if (publicKey === undefined) return undefined;
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
            publicKey: new Uint8Array(publicKey),
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
