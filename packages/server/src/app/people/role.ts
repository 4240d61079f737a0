import {
  builtInRoles,
  type CreateRoleBody,
  isBuiltInRole,
  isOperatorScope,
  type Scope,
} from "@bursar/protocol";
import { type AuditDraft, actorOf, type Origin, tenantOf } from "../audit/audit-entry.js";
import { nameScopes } from "../audit/name-change.js";
import type { CallerReview, PersonFacts } from "../clients/client.js";
import { refuseBeyondScopes, scopesBeyond } from "../clients/client-authority.js";
import { callerReviewOf, describeReviewedAct } from "../clients/review-caller.js";
import type { Refused } from "../requests/refused.js";

/** A named set of scopes. A role is never changed, so that it means the same to everybody who has it. */
export interface Role {
  name: string;
  scopes: readonly Scope[];
  isBuiltIn: boolean;
  createdBy: string | null;
  /** Null for a built-in role. */
  createdAt: Date | null;
}

export interface RoleStore {
  /** Only roles that the service has written. */
  listRoles: (tenantId: string) => Promise<Role[]>;
  findRole: (tenantId: string, name: string) => Promise<Role | undefined>;
  createRole: (
    tenantId: string,
    role: Role & { createdAt: Date },
    audit: AuditDraft,
    caller: CallerReview | undefined,
  ) => Promise<Refused | undefined>;
  deleteRole: (
    tenantId: string,
    name: string,
    audit: AuditDraft,
    caller: CallerReview | undefined,
  ) => Promise<Refused | undefined>;
}

export interface RoleService {
  /** The built-in roles first. */
  listRoles: (tenantId: string) => Promise<Role[]>;
  createRole: (origin: Origin, body: CreateRoleBody) => Promise<Role | Refused>;
  deleteRole: (origin: Origin, name: string) => Promise<Refused | undefined>;
}

export interface RoleServiceDeps {
  roles: RoleStore;
  now: () => number;
}

export function createRoleService({ roles, now }: RoleServiceDeps): RoleService {
  return {
    listRoles: async (tenantId) => [...builtIns, ...(await roles.listRoles(tenantId))],
    createRole: async (origin, { name, scopes }) => {
      if (isBuiltInRole(name)) return { refused: "ROLE_EXISTS" };
      const refused = refuseOperatorScope(scopes) ?? refuseBeyondScopes(origin, scopes);
      if (refused !== undefined) return refused;
      const createdAt = new Date(now());
      const role = { name, scopes, isBuiltIn: false, createdBy: actorOf(origin), createdAt };
      const act = describeReviewedAct(origin, "role.create", name, createdAt);
      const audit = { ...act, objects: [name, ...nameScopes([], scopes)] };
      return (await roles.createRole(tenantOf(origin), role, audit, callerReviewOf(origin, now))) ?? role;
    },
    deleteRole: async (origin, name) => {
      if (isBuiltInRole(name)) return { refused: "ROLE_IN_USE" };
      const audit = describeReviewedAct(origin, "role.delete", name, new Date(now()));
      return await roles.deleteRole(tenantOf(origin), name, audit, callerReviewOf(origin, now));
    },
  };
}

const builtIns: readonly Role[] = Object.entries(builtInRoles).map(([name, scopes]) => ({
  name,
  scopes,
  isBuiltIn: true,
  createdBy: null,
  createdAt: null,
}));

/** A built-in role is always there. */
export function isRoleOfTenant(name: string): boolean {
  return !isBuiltInRole(name);
}

/** What a person has with a role. */
export function withRole<Person extends Omit<PersonFacts, "role">>(
  { roleCreatedBy: _, ...person }: Person,
  { name, scopes, createdBy }: Role,
) {
  const author = createdBy === null ? {} : { roleCreatedBy: createdBy };
  return { scopes, person: { ...person, role: name, ...author } };
}

/** The role with this name, built-in or of the tenant. */
export async function findRole(
  roles: Pick<RoleStore, "findRole">,
  tenantId: string,
  name: string,
): Promise<Role | Refused> {
  const found = builtIns.find((role) => role.name === name) ?? (await roles.findRole(tenantId, name));
  return found ?? { refused: "ROLE_NOT_FOUND" };
}

/** A caller gives no role that has more than itself. The sentence says who can. */
export function refuseRole(
  origin: Origin,
  { name, scopes }: Pick<Role, "name" | "scopes">,
): Refused | undefined {
  const missing = scopesBeyond(origin, scopes);
  if (missing.length === 0) return undefined;
  return {
    refused: "INSUFFICIENT_SCOPE",
    message: `The caller cannot give the role ${name}, because it lacks ${missing.join(", ")}. The operator can: \`bursar people invite\` invites a person with this role, who is independent of all clients.`,
  };
}

/** Only the operator gives these, to a program that it creates. */
function refuseOperatorScope(scopes: readonly Scope[]): Refused | undefined {
  const refused = scopes.filter(isOperatorScope);
  if (refused.length === 0) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `No role can have ${refused.join(", ")}.` };
}
