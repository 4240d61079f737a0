/** Passkeys as the service reads and writes them: every byte string is base64url. */

export interface PasskeyAssertion {
  id: string;
  rawId: string;
  type: string;
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string };
  clientExtensionResults: object;
}

export interface PasskeyRegistration {
  id: string;
  rawId: string;
  type: string;
  response: { clientDataJSON: string; attestationObject: string; transports: string[] };
  clientExtensionResults: object;
}

export interface RegistrationOptions {
  rp: { name: string; id: string };
  user: { id: string; name: string; displayName: string };
  challenge: string;
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout?: number;
  excludeCredentials?: { id: string; type: "public-key" }[];
  authenticatorSelection?: AuthenticatorSelectionCriteria;
  attestation?: AttestationConveyancePreference;
}

/** Asks for a passkey of this site and signs the challenge with it. */
export async function assertPasskey(
  challenge: string | Uint8Array<ArrayBuffer>,
  { rpId, allowed }: { rpId?: string; allowed?: readonly string[] } = {},
): Promise<PasskeyAssertion> {
  const credential = await navigator.credentials.get({
    publicKey: {
      challenge: typeof challenge === "string" ? fromBase64url(challenge) : challenge,
      userVerification: "required",
      ...(rpId === undefined ? {} : { rpId }),
      ...(allowed === undefined
        ? {}
        : {
            allowCredentials: allowed.map((id) => ({ id: fromBase64url(id), type: "public-key" as const })),
          }),
    },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was chosen.");
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    credential.response as AuthenticatorAssertionResponse;
  return {
    ...identityOf(credential),
    response: {
      clientDataJSON: toBase64url(clientDataJSON),
      authenticatorData: toBase64url(authenticatorData),
      signature: toBase64url(signature),
      ...(userHandle === null ? {} : { userHandle: toBase64url(userHandle) }),
    },
  };
}

/** Creates a passkey on this device. */
export async function createPasskey(options: RegistrationOptions): Promise<PasskeyRegistration> {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: fromBase64url(options.challenge),
      user: { ...options.user, id: fromBase64url(options.user.id) },
      excludeCredentials: (options.excludeCredentials ?? []).map((known) => ({
        ...known,
        id: fromBase64url(known.id),
      })),
    },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No passkey was created.");
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...identityOf(credential),
    response: {
      clientDataJSON: toBase64url(response.clientDataJSON),
      attestationObject: toBase64url(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

function identityOf(credential: PublicKeyCredential) {
  const { id, rawId, type } = credential;
  return {
    id,
    rawId: toBase64url(rawId),
    type,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  const view = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  const text = Array.from(view, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
}
