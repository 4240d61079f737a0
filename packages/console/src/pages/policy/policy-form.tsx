import type { ErrorDetail, PolicyDocument } from "@bursar/client";
import { ChangeTerms } from "./change-terms";
import { changeAt, type Path, readAt } from "./document";
import { RuleForm } from "./rule-form";

interface PolicyFormProps {
  document: PolicyDocument;
  details: readonly ErrorDetail[];
  onChange: (document: unknown) => void;
}

export function PolicyForm({ document, details, onChange }: PolicyFormProps) {
  const { rules } = document;
  const set = (path: Path, value: unknown) => onChange(changeAt(document, path, value));
  const faultAt = (path: Path) => {
    const wanted = path.join(".");
    return details.find((detail) => {
      const found = detail.path.replace(/^body\.(document\.)?/, "");
      // A fault of an item of a list is shown at the list.
      return found === wanted || found.startsWith(`${wanted}.`);
    })?.reason;
  };
  const replaceRules = (changed: readonly unknown[]) => set(["rules"], changed);
  const move = (from: number, to: number) => {
    const moved = rules.filter((_, index) => index !== from);
    const rule = rules[from];
    if (rule !== undefined) replaceRules([...moved.slice(0, to), rule, ...moved.slice(to)]);
  };
  const add = () => {
    const names = rules.map(({ name }) => name);
    let number = rules.length + 1;
    while (names.includes(`rule-${number}`)) number += 1;
    const rule = {
      name: `rule-${number}`,
      when: { kind: "transaction" },
      action: "require_approval",
      approvals: 2,
      people: true,
    };
    replaceRules([rule, ...rules]);
  };
  return (
    <div className="stack">
      <div className="row spread">
        <h2>Rules</h2>
        <button type="button" className="button" onClick={add}>
          Add a rule
        </button>
      </div>
      <p className="quiet small">
        A new rule is put first. It also decides payments that a later rule or the default rejects; move it
        down, or restrict its destinations, if it must not.
      </p>
      {rules.length === 0 && <p className="quiet">No rule: the default decides everything.</p>}
      <ol className="plain stack">
        {rules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name can be typed twice, and a key must not change while it is typed
          <li key={index} className="card stack">
            <div className="row spread">
              <h3>
                {index + 1}. {String(readAt(rule, ["name"]) ?? "without a name")}
              </h3>
              <div className="row">
                <button
                  type="button"
                  className="button small"
                  disabled={index === 0}
                  aria-label={`Move rule ${index + 1} up`}
                  onClick={() => move(index, index - 1)}
                >
                  Up
                </button>
                <button
                  type="button"
                  className="button small"
                  disabled={index === rules.length - 1}
                  aria-label={`Move rule ${index + 1} down`}
                  onClick={() => move(index, index + 1)}
                >
                  Down
                </button>
                <button
                  type="button"
                  className="button small"
                  data-tone="danger"
                  aria-label={`Remove rule ${index + 1}`}
                  onClick={() => replaceRules(rules.filter((_, at) => at !== index))}
                >
                  Remove
                </button>
              </div>
            </div>
            <RuleForm
              value={rule}
              faultOf={(path) => faultAt(["rules", index, ...path])}
              onChange={(value) => set(["rules", index], value)}
            />
          </li>
        ))}
      </ol>
      <div className="card stack">
        <h3>If no rule matches</h3>
        <RuleForm
          isDefault
          value={document.default}
          faultOf={(path) => faultAt(["default", ...path])}
          onChange={(value) => set(["default"], value)}
        />
      </div>
      <ChangeTerms document={document} faultOf={faultAt} onChange={set} />
    </div>
  );
}
