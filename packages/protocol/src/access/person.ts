import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { CreatedBy, Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { allScopes } from "./scopes.js";

const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@<>()\\[\\],;:"\\\\]+@[^\\s@<>()\\[\\],;:"\\\\]+$',
  description:
    "It tells people apart, so it must have visible characters only, in their NFKC form. Nothing is sent to it.",
});
const Name = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Without control characters and marks of direction.",
});
const RoleName = Type.String({
  pattern: "^[a-z][a-z0-9_-]{0,39}$",
  description: "`viewer`, `auditor`, `operator`, `approver`, `developer`, `admin`, or a role of the tenant.",
});
const Scopes = Type.Array(OneOf(allScopes), { uniqueItems: true, maxItems: allScopes.length });

export const Passkey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    created_at: Timestamp(),
    last_used_at: Nullable(Timestamp(), "To the minute. Null if it was never used."),
  },
  { $id: "Passkey" },
);
export type Passkey = Static<typeof Passkey>;

const personFields = {
  id: Type.String({ description: "Also the id of the client that the person is." }),
  object: Type.Literal("person"),
  email: Email,
  name: Name,
  role: RoleName,
  scopes: Type.Array(OneOf(allScopes), { description: "What the role allows." }),
  state: OneOf(["invited", "active", "disabled"], {
    description:
      "`invited` means that the person has no passkey yet, and has not logged in with the OpenID provider.",
  }),
  passkeys: Type.Array(Passkey, {
    description: "A person should have two: one who loses the only one has to be recovered.",
  }),
  invitation_expires_at: Nullable(
    Timestamp(),
    "Until when the link of the invitation can be used; null if there is none.",
  ),
  created_by: CreatedBy,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Person = Type.Object(personFields, { $id: "Person" });
export type Person = Static<typeof Person>;

const Invitation = Type.Object(
  {
    url: Type.String({ description: "Hand it to the person over a channel that you trust. It works once." }),
    expires_at: Timestamp("30 minutes after it was made."),
  },
  { $id: "Invitation" },
);

export const InvitedPerson = Type.Object(
  {
    ...personFields,
    invitation: Nullable(
      Invitation,
      "Shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
  },
  { $id: "InvitedPerson" },
);

export const PersonPage = Page(Person, "PersonPage");
export const PersonQuery = PageQuery("people");
export const PersonPath = Type.Object({ id: PathId("The id of the person.", exampleIds.person) });

export const InvitePersonBody = Type.Object(
  { email: Email, name: Name, role: RoleName },
  { $id: "InvitePersonBody", additionalProperties: false },
);
export type InvitePersonBody = Static<typeof InvitePersonBody>;

export const ChangePersonBody = Type.Object(
  {
    name: Type.Optional(Name),
    role: Type.Optional(RoleName),
    state: Type.Optional(OneOf(["active", "disabled"])),
  },
  { $id: "ChangePersonBody", additionalProperties: false, minProperties: 1 },
);
export type ChangePersonBody = Static<typeof ChangePersonBody>;

export const Role = Type.Object(
  {
    object: Type.Literal("role"),
    name: RoleName,
    scopes: Scopes,
    built_in: Type.Boolean({ description: "Whether every tenant has it." }),
    created_by: CreatedBy,
    created_at: Nullable(Timestamp(), "Null for a built-in role."),
  },
  { $id: "Role" },
);
export type Role = Static<typeof Role>;

export const RoleList = Type.Object({ data: Type.Array(Role) }, { $id: "RoleList" });

export const CreateRoleBody = Type.Object(
  {
    name: RoleName,
    scopes: Type.Array(OneOf(allScopes), { uniqueItems: true, minItems: 1, maxItems: allScopes.length }),
  },
  { $id: "CreateRoleBody", additionalProperties: false },
);
export type CreateRoleBody = Static<typeof CreateRoleBody>;

export const RolePath = Type.Object({ name: PathId("The name of the role.", "treasurer") });
