import type {
  LoginChallenge,
  OpenSessionBody,
  RegisterPasskeyBody,
  RegistrationOptions,
} from "@bursar/client";

/** Passkeys as the service reads them: every byte string is base64url. The device verifies the person each time. */

const es256 = -7;
const rs256 = -257;

/** Logs in: asks for a passkey of this site, which says whose it is, and signs the challenge with it. */
export async function assertPasskey({ challenge, rp_id }: LoginChallenge): Promise<OpenSessionBody> {
  const { userHandle, ...assertion } = await signChallenge(fromBase64url(challenge), rp_id);
  if (userHandle === null) throw new Error("This key does not say whose it is. Register it again.");
  return { ...assertion, user_handle: toBase64url(userHandle) };
}

/** Asks for a passkey of this site and signs a challenge with it. */
export async function signChallenge(challenge: Uint8Array<ArrayBuffer>, rpId = location.hostname) {
  const credential = await navigator.credentials.get({
    publicKey: { challenge, rpId, userVerification: "required" },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was chosen.");
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    credential.response as AuthenticatorAssertionResponse;
  return {
    id: credential.id,
    client_data: toBase64url(clientDataJSON),
    authenticator_data: toBase64url(authenticatorData),
    signature: toBase64url(signature),
    userHandle,
  };
}

/** Creates a passkey on this device, which later finds it by itself. A person of two tenants sees for which one it is. */
export async function createPasskey(
  options: RegistrationOptions,
  tenantName: string,
): Promise<Pick<RegisterPasskeyBody, "id" | "client_data" | "attestation_object">> {
  const { challenge, rp_id, user_handle, email, name, existing_credentials } = options;
  const created = navigator.credentials.create({
    publicKey: {
      challenge: fromBase64url(challenge),
      rp: { id: rp_id, name: "Bursar" },
      user: { id: fromBase64url(user_handle), name: `${email} (${tenantName})`, displayName: name },
      pubKeyCredParams: [es256, rs256].map((alg) => ({ alg, type: "public-key" as const })),
      excludeCredentials: existing_credentials.map((id) => ({
        id: fromBase64url(id),
        type: "public-key" as const,
      })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    },
  });
  const credential = await created.catch((error: unknown) => {
    const isCancelled = error instanceof DOMException && error.name === "NotAllowedError";
    throw isCancelled
      ? new Error("No passkey was created: it was cancelled, or took too long. Try again.")
      : error;
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was created.");
  const { clientDataJSON, attestationObject } = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    client_data: toBase64url(clientDataJSON),
    attestation_object: toBase64url(attestationObject),
  };
}

/**
 * Creates and registers a passkey, in one tab of the browser at a time. A device keeps one passkey for a person: a second one that is created
 * meanwhile would replace the one that is being registered, and the person would be locked out.
 */
export async function registerAlone<Result>(register: () => Promise<Result>): Promise<Result> {
  return await navigator.locks.request("bursar-passkey", { ifAvailable: true }, async (lock) => {
    if (lock === null) throw new Error("Another tab of this browser creates a passkey. Finish it there.");
    return await register();
  });
}

/** How the passkey is called in lists, until its owner says something better. */
export function deviceName(): string {
  const system = /Windows|Android|iPhone|iPad|Mac OS X|Linux/.exec(navigator.userAgent)?.[0] ?? "this device";
  return `Passkey of ${system.replace("Mac OS X", "macOS")}`;
}

/** A browser says little when a passkey is not used; it does not tell whether there is one. */
function explain(error: unknown): unknown {
  if (!(error instanceof DOMException)) return error;
  if (error.name === "NotAllowedError")
    return new Error("No passkey was used: it was cancelled, or there is none for this site.");
  if (error.name === "InvalidStateError") return new Error("This device already has a passkey for you.");
  if (error.name === "SecurityError")
    return new Error(
      "Passkeys need a name and not an IP address: open this page under localhost or under the service's own name.",
    );
  return error;
}

/** The same act, whose errors say what a person can do. */
export function explained<Result>(act: () => Promise<Result>): () => Promise<Result> {
  return async () => {
    try {
      return await act();
    } catch (error) {
      throw explain(error);
    }
  };
}

export function toBase64url(bytes: ArrayBuffer): string {
  const characters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromBase64url(encoded: string): Uint8Array<ArrayBuffer> {
  const characters = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
