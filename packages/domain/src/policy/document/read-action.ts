import type { ApprovalRequirement } from "../approvals/approvals.js";
import type { PolicyChanges, Verdict } from "../compiled-policy.js";
import {
  addFault,
  type Field,
  readBoolean,
  readChoice,
  readInteger,
  readObject,
  readSet,
  readText,
} from "./document-field.js";
import { policyActions, policyLimits } from "./policy-document.js";
import { type PolicyReading, readIds } from "./policy-reader.js";

/** The required and optional members of an action, besides its name. */
const membersOf = {
  allow: { required: [], optional: [] },
  reject: { required: ["reason"], optional: [] },
  require_approval: {
    required: ["approvals"],
    optional: ["from", "expires_after_seconds", "signed", "people"],
  },
} as const;
const membersOfAny = {
  required: [],
  optional: ["reason", "approvals", "from", "expires_after_seconds", "signed", "people"],
} as const;

/** A rule or the default. Its action determines its members. */
export interface ActionMembers {
  kind: (typeof policyActions)[number] | undefined;
  members: ReadonlyMap<string, Field>;
}

/** Reads the action of a rule or the default, and its members; `others` are the members that do not belong to the action. */
export function readActionMembers(field: Field, others: readonly string[]): ActionMembers | undefined {
  const { value } = field;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject) return addFault(field, "must be an object");
  const { action } = value as Record<string, unknown>;
  const kind = readChoice({ ...field, value: action, path: `${field.path}.action` }, policyActions);
  const { required, optional } = kind === undefined ? membersOfAny : membersOf[kind];
  const members = readObject(field, [...others, ...required], ["action", ...optional]);
  return members && { kind, members };
}

/** The verdict of a rule on matching transactions. `initiators` are the clients in its condition, if it names any. */
export function readVerdict(
  { kind, members }: ActionMembers,
  rule: string,
  initiators: ReadonlySet<string> | null,
  reading: PolicyReading,
): Verdict | undefined {
  switch (kind) {
    case undefined:
      return undefined;
    case "allow":
      return { kind, rule };
    case "reject": {
      const reason = readText(members.get("reason"), policyLimits.reasonLengthMax);
      return reason === undefined ? undefined : { kind, rule, reason };
    }
    case "require_approval": {
      const requirement = readRequirement(members, initiators, reading);
      return requirement === undefined ? undefined : { kind, rule, requirement };
    }
  }
}

function readRequirement(
  given: ReadonlyMap<string, Field>,
  initiators: ReadonlySet<string> | null,
  reading: PolicyReading,
): ApprovalRequirement | undefined {
  const approvalsField = given.get("approvals");
  const approvals = readInteger(approvalsField, 1, policyLimits.approvalsMax);
  const { expirySecondsMin, expirySecondsMax, expirySecondsDefault } = policyLimits;
  const expiresAfterSeconds = readInteger(
    given.get("expires_after_seconds"),
    expirySecondsMin,
    expirySecondsMax,
  );
  const signed = readBoolean(given.get("signed"));
  const people = readBoolean(given.get("people"));
  const approvers = readApprovers(given.get("from"), reading);
  if (approvals === undefined || approvalsField === undefined) return undefined;
  if (approvers !== undefined) checkNumber(approvalsField, approvals, approvers, initiators);
  return {
    approvals,
    clientIds: approvers === undefined ? null : [...approvers].sort(),
    expiresAfterSeconds: expiresAfterSeconds ?? expirySecondsDefault,
    ...(signed === true ? { signed } : {}),
    ...(people === true ? { people } : {}),
  };
}

/** The `changes` of a document: who approves changes of the policy and of destinations. */
export function readChanges(field: Field | undefined, reading: PolicyReading): PolicyChanges | undefined {
  const given =
    field && readObject(field, ["approvals"], ["from", "policy", "destinations", "delay_seconds"]);
  if (field === undefined || given === undefined) return undefined;
  const approvalsField = given.get("approvals");
  const approvals = readInteger(approvalsField, 1, policyLimits.approvalsMax);
  const delaySeconds = readInteger(given.get("delay_seconds"), 0, policyLimits.changeDelaySecondsMax) ?? 0;
  const approvers = readApprovers(given.get("from"), reading);
  const coversPolicy = readBoolean(given.get("policy")) ?? true;
  const coversDestinations = readBoolean(given.get("destinations")) ?? true;
  if (!coversPolicy && !coversDestinations)
    return addFault(field, "covers neither the policy nor destinations");
  if (approvals === undefined || approvalsField === undefined) return undefined;
  if (approvers !== undefined) checkNumber(approvalsField, approvals, approvers, null);
  const clientIds = approvers === undefined ? null : [...approvers].sort();
  return { approvals, clientIds, delaySeconds, coversPolicy, coversDestinations };
}

/** The clients that may approve, with groups resolved. Undefined if the field is absent or invalid. */
function readApprovers(
  field: Field | undefined,
  { groups, references }: PolicyReading,
): ReadonlySet<string> | undefined {
  if (field === undefined) return undefined;
  const faultsBefore = field.faults.length;
  const given = readObject(field, [], ["clients", "groups"]);
  if (given === undefined) return undefined;
  if (given.size === 0) return addFault(field, "needs clients, groups or both");
  const clients = readIds(given.get("clients"), "client", references) ?? [];
  const names = readSet(given.get("groups"), policyLimits.groupsMax, (item) => {
    const name = readText(item, policyLimits.nameLengthMax);
    return name === undefined || groups.has(name) ? name : addFault(item, "is not a group of this document");
  });
  const members = [...(names ?? [])].map((name) => groups.get(name));
  const isSound = field.faults.length === faultsBefore && !members.includes(undefined);
  return isSound ? new Set([...clients, ...members.flatMap((ids) => [...(ids ?? [])])]) : undefined;
}

/** If too few clients may approve, a transaction would wait until it expires. An initiator never approves its own transaction. */
function checkNumber(
  field: Field,
  approvals: number,
  approvers: ReadonlySet<string>,
  initiators: ReadonlySet<string> | null,
): void {
  if (approvals > approvers.size) {
    addFault(field, `is more than the ${approvers.size} clients that may approve`);
    return;
  }
  const isOneShort = approvals === approvers.size;
  if (isOneShort && initiators !== null && [...initiators].some((client) => approvers.has(client))) {
    addFault(
      field,
      "is too many, because a client in this rule's condition is also an approver and cannot approve its own transaction",
    );
  }
}
