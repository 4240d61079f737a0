import { durationOf } from "../../ui/values/countdown";
import { type Path, readAt } from "./document";

/** The members of a rule that the form has. A member that it does not have is kept, and edited as JSON. */
export interface RuleField {
  path: Path;
  label: string;
  /** An asset is one of the service's. */
  kind: "text" | "number" | "list" | "yes" | "asset";
  options?: readonly string[];
  hint?: string;
  /** What the options mean. */
  words?: Readonly<Record<string, string>>;
}

const list = (path: Path, label: string, options?: readonly string[]): RuleField => ({
  path,
  label,
  kind: "list",
  ...(options === undefined ? { hint: "Several are separated by commas" } : { options }),
});

const destinationWords = {
  own_wallet: "a wallet of this tenant",
  other_wallet: "a wallet of another tenant",
  listed_address: "an address on the allow-list",
  address: "any address, listed or not",
  market: "every order",
};

/** What a rule applies to. */
export const conditionFields: readonly RuleField[] = [
  { path: ["when", "kind"], label: "Kind", kind: "text", options: ["transaction", "order"] },
  list(["when", "assets"], "Assets"),
  list(["when", "networks"], "Networks"),
  { path: ["when", "amount", "asset"], label: "Amount in", kind: "asset", hint: "The asset of both bounds" },
  {
    path: ["when", "amount", "min"],
    label: "At least",
    kind: "text",
    hint: "This amount too. For more than 1000.00, write 1000.01",
  },
  { path: ["when", "amount", "max"], label: "At most", kind: "text" },
  {
    ...list(["when", "destinations"], "Destinations", Object.keys(destinationWords)),
    words: destinationWords,
  },
  list(["when", "source_purposes"], "From wallets for", [
    "treasury",
    "deposit",
    "payout",
    "settlement",
    "fees",
  ]),
  list(["when", "source_wallets"], "From these wallets"),
  list(["when", "clients"], "Requested by"),
  list(["when", "markets"], "Markets"),
  { path: ["when", "sum", "asset"], label: "Sum in", kind: "asset", hint: "The asset that is added up" },
  { path: ["when", "sum", "per"], label: "Sum per", kind: "text", options: ["wallet", "client", "tenant"] },
  { path: ["when", "sum", "period_seconds"], label: "Sum over (seconds)", kind: "number" },
  { path: ["when", "sum", "above"], label: "Sum above", kind: "text" },
  {
    path: ["when", "count", "per"],
    label: "Count per",
    kind: "text",
    options: ["wallet", "client", "tenant"],
  },
  { path: ["when", "count", "period_seconds"], label: "Count over (seconds)", kind: "number" },
  { path: ["when", "count", "above"], label: "Count above", kind: "number" },
  { path: ["when", "hours", "from"], label: "From hour", kind: "number" },
  { path: ["when", "hours", "to"], label: "Until hour", kind: "number" },
  { path: ["when", "hours", "time_zone"], label: "Time zone", kind: "text" },
];

/** The conditions that a new rule shows; the others are behind a disclosure. */
export const commonConditions = ["when.assets", "when.amount.asset", "when.amount.min", "when.amount.max"];

const approvalFields: readonly RuleField[] = [
  { path: ["approvals"], label: "Approvals", kind: "number", hint: "How many; the requester cannot approve" },
  { path: ["people"], label: "Only people approve", kind: "yes" },
  { path: ["signed"], label: "Programs sign their approvals (people always do)", kind: "yes" },
  list(["from", "groups"], "By groups"),
  list(["from", "clients"], "By clients"),
  {
    path: ["expires_after_seconds"],
    label: "To be decided within (seconds)",
    kind: "number",
    hint: "Defaults to a day",
  },
];

/** A number of seconds in larger units, such as `1 h`; undefined for other fields, and for what is not such a number. */
export function durationNote({ path }: RuleField, value: unknown): string | undefined {
  const isSeconds = path.at(-1)?.toString().endsWith("_seconds") === true;
  return isSeconds && Number.isSafeInteger(value) && Number(value) > 0
    ? `${value} seconds are ${durationOf(Number(value) * 1000)}`
    : undefined;
}

/** What the action of a rule needs. */
export function actionFields(action: unknown): readonly RuleField[] {
  if (action === "reject")
    return [{ path: ["reason"], label: "Reason", kind: "text", hint: "The client sees it" }];
  return action === "require_approval" ? approvalFields : [];
}

/** What a rule, or the default, means for orders, if that is easily overlooked. */
export function orderNoteOf(rule: unknown): string | undefined {
  if (readAt(rule, ["when", "kind"]) === "transaction")
    return "Orders are not covered: another rule or the default decides about them.";
  return readAt(rule, ["action"]) === "require_approval"
    ? "An order cannot wait for approval: orders that this applies to are refused."
    : undefined;
}
