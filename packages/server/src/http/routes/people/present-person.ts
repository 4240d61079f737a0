import { type Passkey, type Person, showId } from "@bursar/protocol";
import type { ClientKey } from "../../../app/clients/client.js";
import { invitationUrl } from "../../../app/people/console-address.js";
import { readPasskey } from "../../../app/people/passkey.js";
import { type InvitedPerson, type PersonClient, stateOfPerson } from "../../../app/people/people-service.js";

export function presentPerson(client: PersonClient): Person {
  const { person, keys, secrets, createdBy } = client;
  return {
    id: showId("cli", client.id),
    object: "person",
    email: person.email,
    name: client.name,
    role: person.role,
    scopes: [...client.scopes],
    state: stateOfPerson(client),
    passkeys: keys.map(presentPasskey),
    invitation_expires_at: secrets[0]?.expiresAt?.toISOString() ?? null,
    created_by: createdBy === null ? null : showId("cli", createdBy),
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  };
}

export function presentPasskey(key: ClientKey): Passkey {
  return {
    id: showId("key", key.id),
    name: readPasskey(key).name,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

/** With the link, which is shown once. */
export function presentInvited({ person, invitation }: InvitedPerson, publicUrl: string) {
  return {
    ...presentPerson(person),
    invitation:
      invitation === null
        ? null
        : {
            url: invitationUrl(publicUrl, invitation.token),
            expires_at: invitation.expiresAt.toISOString(),
          },
  };
}
