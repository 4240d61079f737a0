/**
 * Counts what an untrusted document lists: wallets, clients, assets and every other item of a condition or a group. The members of a
 * group count once for the group and once for each rule that names it, because that is what compiling costs. It only looks at lengths, so
 * that a document can be refused before it is compiled: 200 rules that name 20 groups of 100 clients took 200 ms.
 */
export function countReferences(document: unknown): number {
  const { rules, groups, ...rest } = membersOf(document);
  const sizes = new Map(Object.entries(membersOf(groups)).map(([name, ids]) => [name, lengthOf(ids)]));
  let count = 0;
  for (const size of sizes.values()) count += size;
  for (const action of [...listOf(rules), ...Object.values(rest)]) {
    const { when, from } = membersOf(action);
    for (const item of Object.values(membersOf(when))) count += lengthOf(item);
    const approvers = membersOf(from);
    count += lengthOf(approvers["clients"]);
    for (const name of listOf(approvers["groups"])) count += 1 + (sizes.get(String(name)) ?? 0);
  }
  return count;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function lengthOf(value: unknown): number {
  return listOf(value).length;
}
