import { builtInRoles } from "../access/roles.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const createdAt = "2026-10-27T08:00:01.800Z";

const person = {
  id: exampleIds.person,
  object: "person",
  email: "ada@treasury.example",
  name: "Ada",
  role: "operator",
  scopes: [...builtInRoles.operator],
  state: "active",
  passkeys: [
    {
      id: exampleIds.key,
      name: "Laptop",
      created_at: "2026-10-27T08:05:00.000Z",
      last_used_at: "2026-11-16T09:25:00.000Z",
    },
  ],
  invitation_expires_at: null,
  created_by: exampleIds.client,
  created_at: createdAt,
  updated_at: createdAt,
};

const invited = {
  ...person,
  state: "invited",
  passkeys: [],
  invitation_expires_at: "2026-10-27T08:30:01.800Z",
  invitation: {
    url: `https://bursar.example/console#invitation=${exampleIds.person}.bsk_example-only-5Zr0mVn3Qx8Kc7Lw2Ht6Yb4Jd9Fg1`,
    expires_at: "2026-10-27T08:30:01.800Z",
  },
};

const role = {
  object: "role",
  name: "treasurer",
  scopes: ["transactions:read", "transactions:write", "wallets:read"],
  built_in: false,
  created_by: exampleIds.client,
  created_at: createdAt,
};

const builtIn = { object: "role", built_in: true, created_by: null, created_at: null };

const session = {
  id: exampleIds.session,
  object: "session",
  passkey_id: exampleIds.key,
  address: "192.0.2.7",
  last_address: "192.0.2.7",
  created_at: "2026-11-16T08:00:00.000Z",
  last_used_at: "2026-11-16T09:25:00.000Z",
  expires_at: "2026-11-16T20:00:00.000Z",
};

const invitation = `${exampleIds.person}.bsk_example-only-5Zr0mVn3Qx8Kc7Lw2Ht6Yb4Jd9Fg1`;
const challenge = "c2VhbGVkLWNoYWxsZW5nZQ";
const userHandle = "AZ0PYQrAfoaapMPD7KuOoQ";
const credential = { id: "Y3JlZGVudGlhbA", client_data: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0" };

export const peopleExamples: Examples = {
  InvitePersonBody: { value: { email: "ada@treasury.example", name: "Ada", role: "operator" } },
  InvitedPerson: { value: invited },
  Person: { value: person },
  PersonPage: lastPage(person),
  ChangePersonBody: { value: { role: "viewer" } },
  LoginChallenge: { value: { challenge, rp_id: "bursar.example", provider: true } },
  ProviderLogin: {
    value: { url: "https://login.example/authorize?client_id=bursar&response_type=code&state=3YbP" },
  },
  FinishProviderLoginBody: { value: { parameters: "code=SplxlOBeZQQYbYS6WxSbIA&state=3YbP" } },
  RegistrationOptionsBody: { value: { invitation } },
  RegistrationOptions: {
    value: {
      challenge,
      rp_id: "bursar.example",
      user_handle: userHandle,
      email: person.email,
      name: person.name,
      existing_credentials: [],
      tenant_name: "treasury",
    },
  },
  RegisterPasskeyBody: {
    value: { invitation, name: "Laptop", ...credential, attestation_object: "o2NmbXRkbm9uZQ" },
  },
  AddPasskeyBody: {
    value: { name: "Security key", ...credential, attestation_object: "o2NmbXRkbm9uZQ" },
  },
  RenamePasskeyBody: { value: { name: "Office laptop" } },
  Passkey: { value: person.passkeys[0] },
  PasskeyList: { value: { data: person.passkeys } },
  OpenSessionBody: {
    value: {
      user_handle: userHandle,
      ...credential,
      authenticator_data: "SZYN5YgOjGh0NBcPZHZgW4",
      signature: "MEUCIQ",
    },
  },
  Session: { value: session },
  OpenedSession: { value: { ...session, person } },
  SessionToken: {
    value: {
      access_token: "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjbGkifQ.c2lnbmF0dXJl",
      token_type: "Bearer",
      expires_in: 300,
      scope: person.scopes.join(" "),
      session,
      person,
    },
  },
  SessionList: { value: { data: [session] } },
  CreateRoleBody: { value: { name: role.name, scopes: role.scopes } },
  Role: { value: role },
  RoleList: {
    value: {
      data: [
        ...Object.entries(builtInRoles).map(([name, scopes]) => ({ ...builtIn, name, scopes: [...scopes] })),
        role,
      ],
    },
  },
};
