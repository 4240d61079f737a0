import type {
  CompiledPolicy,
  CompiledRule,
  Condition,
  PolicyChanges,
  UsageLimit,
  Verdict,
} from "./compiled-policy.js";
import {
  addFault,
  type Field,
  type PolicyFault,
  readEntries,
  readObject,
} from "./document/document-field.js";
import { defaultRuleName, policyLimits } from "./document/policy-document.js";
import {
  type PolicyReading,
  type PolicyReference,
  type PolicyWorld,
  readIds,
} from "./document/policy-reader.js";
import { readActionMembers, readChanges, readVerdict } from "./document/read-action.js";
import { readCondition } from "./document/read-condition.js";

export type PolicyCompilation =
  | { policy: CompiledPolicy; references: readonly PolicyReference[]; faults?: never }
  | { faults: readonly PolicyFault[]; policy?: never; references?: never };

const namePattern = new RegExp(policyLimits.namePattern);
const everything: Condition = {
  kind: null,
  markets: null,
  assets: null,
  networks: null,
  amountMin: null,
  amountMax: null,
  sourceWallets: null,
  sourcePurposes: null,
  destinations: null,
  clients: null,
  hours: null,
};

/**
 * Compiles an untrusted document into a policy that is fast to evaluate, or returns all of its faults. It repeats the checks of the wire
 * schema, adds others, and names the rule of each fault, which a schema cannot do.
 */
export function compilePolicy(document: unknown, world: PolicyWorld): PolicyCompilation {
  const faults: PolicyFault[] = [];
  const root: Field = { value: document, rule: null, path: "", faults };
  const given = readObject(root, ["rules", "default"], ["groups", "changes"]);
  if (given === undefined) return { faults };
  const references: PolicyReference[] = [];
  const reading: PolicyReading = { world, references, groups: readGroups(given.get("groups"), references) };
  const rules = readRules(given.get("rules"), reading);
  const defaultField = given.get("default");
  const members = defaultField && readActionMembers(defaultField, []);
  const verdict = members && readVerdict(members, defaultRuleName, null, reading);
  const changes = readChanges(given.get("changes"), reading);
  if (faults.length > 0 || verdict === undefined) return { faults };
  const policy = indexRules([...rules, compileRule(everything, [], verdict)], changes ?? null);
  return { policy, references };
}

function readGroups(field: Field | undefined, references: PolicyReference[]): PolicyReading["groups"] {
  const groups = new Map<string, ReadonlySet<string> | undefined>();
  const entries = field && readEntries(field);
  if (field === undefined || entries === undefined) return groups;
  if (entries.length > policyLimits.groupsMax)
    addFault(field, `has more than ${policyLimits.groupsMax} groups`);
  for (const [name, member] of entries) {
    if (!namePattern.test(name)) addFault(member, nameFault);
    const faultsBefore = member.faults.length;
    const clients = readIds(member, "client", references);
    groups.set(name, member.faults.length === faultsBefore ? clients : undefined);
  }
  return groups;
}

function readRules(field: Field | undefined, reading: PolicyReading): CompiledRule[] {
  if (field === undefined) return [];
  const { value } = field;
  if (!Array.isArray(value) || value.length > policyLimits.rulesMax) {
    addFault(field, `must be a list of at most ${policyLimits.rulesMax} rules`);
    return [];
  }
  const names = new Set<string>();
  return value.flatMap((rule, index) => {
    const read = readRule({ ...field, value: rule, path: `${field.path}.${index}` }, names, reading);
    return read === undefined ? [] : [read];
  });
}

function readRule(field: Field, names: Set<string>, reading: PolicyReading): CompiledRule | undefined {
  const rule = properName(field.value);
  const read = readActionMembers({ ...field, rule }, ["name", "when"]);
  const name = read?.members.get("name");
  const when = read?.members.get("when");
  if (name !== undefined) checkName(name, names);
  const condition = when && readCondition(when, reading);
  const verdict = read && readVerdict(read, rule ?? "", condition?.condition.clients ?? null, reading);
  if (condition === undefined || verdict === undefined) return undefined;
  return compileRule(condition.condition, condition.limits, verdict);
}

const nameFault = "must be 1 to 64 characters of a-z, 0-9 and -";

/** The name of a rule in fault messages; null if it has no valid name. */
function properName(rule: unknown): string | null {
  const name = typeof rule === "object" && rule !== null && "name" in rule ? rule.name : undefined;
  return typeof name === "string" && namePattern.test(name) ? name : null;
}

function checkName(field: Field, names: Set<string>): void {
  const { rule } = field;
  if (rule === null) {
    addFault(field, nameFault);
    return;
  }
  if (rule === defaultRuleName) addFault(field, "is the name of the default, which no rule can have");
  if (names.has(rule)) addFault(field, "is the name of an earlier rule");
  names.add(rule);
}

function compileRule(condition: Condition, limits: readonly UsageLimit[], verdict: Verdict): CompiledRule {
  const isDecidedLater = limits.length > 0 || verdict.kind === "require_approval";
  const onTheSpot = isDecidedLater ? { kind: "later" as const, rule: verdict.rule } : verdict;
  return { condition, limits, onTheSpot, verdict };
}

/** A transaction is tested only against the rules that apply to its asset. */
function indexRules(rules: readonly CompiledRule[], changes: PolicyChanges | null): CompiledPolicy {
  const codes = new Set(rules.flatMap(({ condition }) => [...(condition.assets ?? [])]));
  const isFor = (code: string | null) => (rule: CompiledRule) =>
    rule.condition.assets === null || (code !== null && rule.condition.assets.has(code));
  const windows = new Map(
    rules
      .flatMap(({ limits }) => limits)
      .map(({ per, asset, periodSeconds }) => [
        `${per} ${asset} ${periodSeconds}`,
        { per, asset, periodSeconds },
      ]),
  );
  return {
    rulesByAsset: new Map([...codes].map((code) => [code, rules.filter(isFor(code))])),
    otherRules: rules.filter(isFor(null)),
    windows: [...windows.values()],
    rules,
    changes,
  };
}
