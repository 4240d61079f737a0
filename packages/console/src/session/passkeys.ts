import type {
  LoginChallenge,
  OpenSessionBody,
  RegisterPasskeyBody,
  RegistrationOptions,
} from "@bursar/client";

/** Passkeys as the service reads them: every byte string is base64url. The device verifies the person each time. */

const es256 = -7;
const rs256 = -257;

/** Asks for a passkey of this site and signs the challenge with it. */
export async function assertPasskey({ challenge, rp_id }: LoginChallenge): Promise<OpenSessionBody> {
  const credential = await navigator.credentials.get({
    publicKey: { challenge: fromBase64url(challenge), rpId: rp_id, userVerification: "required" },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was chosen.");
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    credential.response as AuthenticatorAssertionResponse;
  if (userHandle === null) throw new Error("This key does not say whose it is. Register it again.");
  return {
    id: credential.id,
    client_data: toBase64url(clientDataJSON),
    authenticator_data: toBase64url(authenticatorData),
    signature: toBase64url(signature),
    user_handle: toBase64url(userHandle),
  };
}

/** Creates a passkey on this device, which later finds it by itself. */
export async function createPasskey(
  options: RegistrationOptions,
): Promise<Pick<RegisterPasskeyBody, "id" | "client_data" | "attestation_object">> {
  const { challenge, rp_id, user_handle, email, name } = options;
  const credential = await navigator.credentials.create({
    publicKey: {
      challenge: fromBase64url(challenge),
      rp: { id: rp_id, name: "Bursar" },
      user: { id: fromBase64url(user_handle), name: email, displayName: name },
      pubKeyCredParams: [es256, rs256].map((alg) => ({ alg, type: "public-key" as const })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was created.");
  const { clientDataJSON, attestationObject } = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    client_data: toBase64url(clientDataJSON),
    attestation_object: toBase64url(attestationObject),
  };
}

function toBase64url(bytes: ArrayBuffer): string {
  const characters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64url(encoded: string): Uint8Array<ArrayBuffer> {
  const characters = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
