import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Nullable, PathId, Timestamp } from "../values.js";
import { VisibleLine } from "../visible-text.js";
import { Passkey, Person } from "./person.js";

const closed = { additionalProperties: false };
const Bytes = (maxLength: number, description: string) =>
  Type.String({ pattern: "^[A-Za-z0-9_-]+$", minLength: 1, maxLength, description });
const Invitation = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "What the link has after `#invitation=`.",
});
const Challenge = Type.String({ description: "Base64url. Valid for 5 minutes, and once." });
const RpId = Type.String({ description: "The `rpId` of WebAuthn." });
const credential = {
  id: Bytes(1400, "The id of the credential, in base64url."),
  client_data: Bytes(8192, "`clientDataJSON`, in base64url."),
};

export const LoginChallenge = Type.Object(
  {
    challenge: Challenge,
    rp_id: RpId,
    provider: Type.Boolean({ description: "Whether people can also log in with an OpenID provider." }),
  },
  { $id: "LoginChallenge", description: "What `navigator.credentials.get` needs." },
);

export const ProviderLogin = Type.Object(
  {
    url: Type.String({ description: "Where the browser goes: the authorization endpoint of the provider." }),
  },
  { $id: "ProviderLogin" },
);

export const FinishProviderLoginBody = Type.Object(
  {
    parameters: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "The query that the browser came back with, such as `code=…&state=…`.",
    }),
  },
  { $id: "FinishProviderLoginBody", ...closed },
);

export const RegistrationOptionsBody = Type.Object(
  { invitation: Invitation },
  { $id: "RegistrationOptionsBody", ...closed },
);

export const RegistrationOptions = Type.Object(
  {
    challenge: Challenge,
    rp_id: RpId,
    user_handle: Type.String({ description: "`user.id`, in base64url." }),
    email: Type.String(),
    name: Type.String(),
    existing_credentials: Type.Array(Type.String(), {
      description:
        "The ids of the person's credentials, in base64url, for `excludeCredentials`. A device that has one of them creates no other: it would replace the one that it has.",
    }),
    tenant_name: Type.Optional(
      Type.String({ description: "The tenant that the invitation is for. Present for invitations alone." }),
    ),
  },
  { $id: "RegistrationOptions", description: "What `navigator.credentials.create` needs." },
);

const PasskeyName = VisibleLine(64, "How the person calls the passkey. ");
const newPasskey = {
  name: PasskeyName,
  ...credential,
  // Enough for an attestation without certificates. CBOR takes about a microsecond of the event loop for each byte.
  attestation_object: Bytes(8192, "`attestationObject`, in base64url."),
};

export const RegisterPasskeyBody = Type.Object(
  { invitation: Invitation, ...newPasskey },
  { $id: "RegisterPasskeyBody", ...closed },
);

export const AddPasskeyBody = Type.Object(newPasskey, { $id: "AddPasskeyBody", ...closed });

export const RenamePasskeyBody = Type.Object({ name: PasskeyName }, { $id: "RenamePasskeyBody", ...closed });

export const PasskeyList = Type.Object({ data: Type.Array(Passkey) }, { $id: "PasskeyList" });
export const PasskeyPath = Type.Object({ id: PathId("The id of the passkey.", exampleIds.key) });

export const OpenSessionBody = Type.Object(
  {
    user_handle: Bytes(100, "`userHandle`, in base64url."),
    ...credential,
    authenticator_data: Bytes(8192, "`authenticatorData`, in base64url."),
    signature: Bytes(2048, "In base64url."),
  },
  { $id: "OpenSessionBody", ...closed },
);

const sessionFields = {
  id: Type.String(),
  object: Type.Literal("session"),
  passkey_id: Nullable(
    Type.String(),
    "The passkey that it was opened with; null if it was opened with an OpenID provider.",
  ),
  address: Type.String({ description: "The address that it was opened from." }),
  last_address: Type.String({ description: "The address that it was last used from." }),
  created_at: Timestamp(),
  last_used_at: Timestamp("It ends 30 minutes after this."),
  expires_at: Timestamp("12 hours after it was opened."),
};

export const Session = Type.Object(sessionFields, { $id: "Session" });
export type Session = Static<typeof Session>;

export const OpenedSession = Type.Object(
  { ...sessionFields, person: Person },
  { $id: "OpenedSession", description: "The cookie of the session is in `Set-Cookie`." },
);

export const SessionToken = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ description: "In seconds: 5 minutes." }),
    scope: Type.String(),
    session: Session,
    person: Person,
  },
  { $id: "SessionToken" },
);

export const SessionList = Type.Object({ data: Type.Array(Session) }, { $id: "SessionList" });
export const SessionPath = Type.Object({ id: PathId("The id of the session.", exampleIds.session) });
