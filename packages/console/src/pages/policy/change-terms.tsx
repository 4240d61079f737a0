import { TextField } from "../../ui/forms/text-field";
import { type Path, readAt } from "./document";

interface ChangeTermsProps {
  document: unknown;
  faultOf: (path: Path) => string | undefined;
  onChange: (path: Path, value: unknown) => void;
}

const approvals = ["changes", "approvals"] as const;

/** How many must approve a change that loosens the policy. Without this, one person can remove a rule, pay, and restore the rule. */
export function ChangeTerms({ document, faultOf, onChange }: ChangeTermsProps) {
  const number = readAt(document, approvals);
  const isAlone = number === undefined;
  return (
    <div className="card stack">
      <h3>Changes of this policy</h3>
      <TextField
        label="Approvals for changes that loosen it"
        hint="Also for adding and removing destinations, unless the JSON says otherwise. Empty: none"
        inputMode="numeric"
        autoComplete="off"
        fault={faultOf(approvals)}
        value={isAlone ? "" : String(number)}
        onValue={(text) => {
          const typed = text.trim();
          if (typed === "") onChange(["changes"], undefined);
          else onChange(approvals, /^\d{1,15}$/.test(typed) ? Number(typed) : typed);
        }}
      />
      {isAlone && (
        <p className="notice" data-tone="wait">
          Everybody who may change the policy can remove any of these rules alone, and at once.
        </p>
      )}
    </div>
  );
}
