import { scopeDescriptions } from "@bursar/client";
import { useScopes } from "../../session/use-me";
import { CheckList } from "../../ui/forms/check-list";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";

interface NamedScopesProps {
  maxLength: number;
  /** What a name may consist of, if not of everything. */
  hint?: string;
  /** What is wrong with the name, before the service says so. */
  nameFault?: string | undefined;
  value: { name: string; scopes: string[] };
  error: unknown;
  onChange: (part: { name: string } | { scopes: string[] }) => void;
}

/** A name, and scopes of those that the person has: nobody grants more. */
export function NamedScopes({ maxLength, hint, nameFault, value, error, onChange }: NamedScopesProps) {
  const own = useScopes();
  return (
    <>
      <TextField
        label="Name"
        hint={hint}
        maxLength={maxLength}
        value={value.name}
        fault={nameFault ?? faultOf(error, "name")}
        onValue={(name) => onChange({ name })}
      />
      <CheckList
        legend="Scopes, of those that you have"
        options={own}
        words={scopeDescriptions}
        chosen={value.scopes}
        onChange={(scopes) => onChange({ scopes })}
      />
    </>
  );
}
