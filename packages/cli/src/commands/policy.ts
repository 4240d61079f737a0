import { readFileSync } from "node:fs";
import type { EvaluatePolicyBody, ListPolicyVersionsQuery, PolicyDocument } from "@bursar/client";
import { CliError, exitCodes, usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import type { Io } from "../terminal/io.js";
import { safeJson } from "../terminal/safe-text.js";
import type { Command, Context } from "./command.js";
import { diffLines } from "./diff-lines.js";
import { listCommand } from "./lists.js";

const file = { name: "file", about: "a file with the policy document as JSON; - is the standard input" };

export const policyCommands: readonly Command[] = [
  {
    path: "policy get",
    summary: "print the policy document in force",
    options: [{ name: "version", value: "number", about: "an earlier version" }],
    operations: ["GET /v1/policy"],
    run: async ({ bursar, io, note }, given) => {
      const version = given.number("version", { min: 0, max: 1_000_000_000 });
      const policy = await (await bursar()).policy.get(version === undefined ? {} : { version });
      note(`version ${policy.version}`);
      io.out(`${safeJson(policy.document, given.flag("jsonl") ? undefined : 2)}\n`);
      return undefined;
    },
  },
  {
    path: "policy put",
    summary: "replace the policy, after showing what changes",
    arguments: [file],
    operations: ["GET /v1/policy", "PUT /v1/policy"],
    movesMoney: true,
    run: replacePolicy,
  },
  {
    path: "policy diff",
    summary: "compare a policy document with the one in force; exit with 1 if they differ",
    arguments: [file],
    operations: ["GET /v1/policy"],
    run: async (context, given) => {
      const document = await readDocument(given.argument("file"), context.io);
      const { document: inForce } = await (await context.bursar()).policy.get();
      return showDifference(inForce, document, context) ? exitCodes.refused.code : undefined;
    },
  },
  {
    path: "policy evaluate",
    summary: "show what the policy would decide about a payment; nothing is created",
    arguments: [
      { name: "amount", about: "such as 125.50" },
      { name: "asset", about: "the code of the asset" },
    ],
    options: [
      { name: "from", value: "wallet", about: "the source; the primary wallet by default" },
      { name: "to", value: "wallet", about: "the destination; the settlement wallet by default" },
      { name: "as", value: "client", about: "the client that would send it; you by default" },
      { name: "at", value: "time", about: "when it would be sent; now by default" },
      { name: "policy", value: "file", about: "a policy document to try instead of the one in force" },
    ],
    operations: ["POST /v1/policy/evaluate"],
    run: evaluate,
  },
  listCommand<ListPolicyVersionsQuery>({
    path: "policy versions",
    summary: "list the versions of the policy, newest first",
    operation: "GET /v1/policy/versions",
    columns: ["version", "created_by", "created_at"],
    read: (bursar, query) => bursar.policy.versions(query),
  }),
];

async function replacePolicy(context: Context, given: Given): Promise<undefined> {
  const document = await readDocument(given.argument("file"), context.io);
  const bursar = await context.bursar();
  const inForce = await bursar.policy.get();
  const { etag } = inForce.lastResponse;
  if (etag === undefined)
    throw new CliError("The service sent no ETag with the policy, so it cannot be replaced safely.");
  if (
    !showDifference(inForce.document, document, { ...context, io: { ...context.io, out: context.io.err } })
  ) {
    context.note("The document is the one in force; nothing was sent.");
    return undefined;
  }
  await context.confirm(
    `Replace version ${inForce.version} of the policy at ${(await context.target()).url}?`,
  );
  const replaced = await bursar.policy.replace(document, etag);
  if (replaced.object === "change_request")
    context.note(`It must be approved first: ${replaced.id} needs ${replaced.required} approvals.`);
  context.output.one(replaced.object === "policy" ? { ...replaced, document: undefined } : replaced);
  return undefined;
}

/** Returns whether they differ. */
function showDifference(before: PolicyDocument, after: PolicyDocument, { io, output }: Context): boolean {
  const lines = diffLines(linesOf(before), linesOf(after));
  if (lines.every(({ sign }) => sign === " ")) return false;
  const paint = { "+": output.style.good, "-": output.style.bad, " ": output.style.dim };
  for (const { sign, line } of lines) io.out(`${paint[sign](`${sign} ${line}`)}\n`);
  return true;
}

function linesOf(document: PolicyDocument): string[] {
  return safeJson(sorted(document), 2).split("\n");
}

/** The order of members says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

async function evaluate({ bursar, output, io }: Context, given: Given): Promise<undefined> {
  const [from, to, as, at, policy] = ["from", "to", "as", "at", "policy"].map((name) => given.text(name));
  const body: EvaluatePolicyBody = {
    transaction: {
      reference: "evaluation",
      amount: given.argument("amount"),
      asset: given.argument("asset"),
      ...(from === undefined ? {} : { source: { wallet_id: from } }),
      ...(to === undefined ? {} : { destination: { wallet_id: to } }),
    },
    ...(as === undefined ? {} : { client_id: as }),
    ...(at === undefined ? {} : { at }),
    ...(policy === undefined ? {} : { document: await readDocument(policy, io) }),
  };
  output.one(await (await bursar()).policy.evaluate(body));
  return undefined;
}

async function readDocument(path: string, io: Io): Promise<PolicyDocument> {
  try {
    return JSON.parse(path === "-" ? await io.readInput() : readFileSync(path, "utf8")) as PolicyDocument;
  } catch (cause) {
    throw usage(
      `${path === "-" ? "The standard input" : path} cannot be read as JSON: ${(cause as Error).message.replaceAll(/\s+/g, " ")}`,
    );
  }
}
