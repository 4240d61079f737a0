import type { PolicyEvaluation } from "@bursar/client";
import { ForeignText } from "../values/foreign-text";

const words = {
  allow: "The policy allows this payment.",
  reject: "The policy rejects this payment.",
  require_approval: "This payment needs approval.",
} as const;
const tones = { allow: undefined, reject: "bad", require_approval: "wait" } as const;

/** What the policy would decide about a payment, by which rule. */
export function Verdict({ evaluation, title }: { evaluation: PolicyEvaluation; title?: string }) {
  const { action, rule, reason, approval, sums } = evaluation;
  return (
    <div className="notice" data-tone={tones[action]} role="status">
      <p>
        {title !== undefined && <strong>{title}: </strong>}
        {words[action]}
        {approval !== null &&
          ` ${approval.approvals} ${approval.approvals === 1 ? "approval" : "approvals"}.`}
      </p>
      <p className="small">
        Rule <code>{rule}</code> {reason !== null && <ForeignText text={reason} />}
      </p>
      {sums.map((sum) => (
        <p key={`${sum.rule} ${sum.measure}`} className="small">
          <code>{sum.rule}</code>: {sum.measure} per {sum.per} is {sum.before}, with this {sum.including},
          limit {sum.limit}
        </p>
      ))}
    </div>
  );
}
