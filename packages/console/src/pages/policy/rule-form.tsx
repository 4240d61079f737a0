import { useAssets } from "../../api/catalog";
import { CheckList } from "../../ui/forms/check-list";
import { SelectField, TextField } from "../../ui/forms/text-field";
import { changeAt, type Path, readAt } from "./document";
import {
  actionFields,
  commonConditions,
  conditionFields,
  durationNote,
  orderNoteOf,
  type RuleField,
} from "./rule-fields";

interface RuleFormProps {
  /** A rule, or the default, which has an action alone. */
  value: unknown;
  isDefault?: boolean;
  faultOf: (path: Path) => string | undefined;
  onChange: (value: unknown) => void;
}

const actions = ["allow", "reject", "require_approval"];

export function RuleForm({ value, isDefault = false, faultOf, onChange }: RuleFormProps) {
  const set = (path: Path, change: unknown) => onChange(changeAt(value, path, change));
  const action = readAt(value, ["action"]);
  const control = (field: RuleField) => (
    <RuleControl
      key={field.path.join(".")}
      field={field}
      value={readAt(value, field.path)}
      fault={faultOf(field.path)}
      onChange={(change) => set(field.path, change)}
    />
  );
  const isCommon = ({ path }: RuleField) =>
    commonConditions.includes(path.join(".")) || readAt(value, path) !== undefined;
  const further = conditionFields.filter((field) => !isCommon(field));
  const orderNote = orderNoteOf(value);
  return (
    <div className="stack">
      <div className="fields">
        {!isDefault &&
          control({ path: ["name"], label: "Name", kind: "text", hint: "1 to 64 of a-z, 0-9 and -" })}
        <SelectField
          label="Action"
          value={String(action ?? "")}
          fault={faultOf(["action"])}
          onValue={(chosen) => onChange(withAction(value, chosen))}
        >
          {actions.map((one) => (
            <option key={one} value={one}>
              {one.replaceAll("_", " ")}
            </option>
          ))}
        </SelectField>
        {actionFields(action).map(control)}
      </div>
      {orderNote !== undefined && (
        <p className="notice small" data-tone="wait">
          {orderNote}
        </p>
      )}
      {!isDefault && (
        <>
          <div className="fields">{conditionFields.filter(isCommon).map(control)}</div>
          <details>
            <summary>More conditions</summary>
            <div className="fields">{further.map(control)}</div>
          </details>
        </>
      )}
    </div>
  );
}

/** What only another action has is removed; the number of approvals is required, so it has a value at once. */
function withAction(value: unknown, action: string): unknown {
  const kept = actionFields(action).map(({ path }) => path[0]);
  const dropped = [...actionFields("reject"), ...actionFields("require_approval")]
    .map(({ path }) => path[0] ?? "")
    .filter((name) => !kept.includes(name));
  const changed = dropped.reduce((rule, name) => changeAt(rule, [name], undefined), value);
  const acting = changeAt(changed, ["action"], action);
  return action === "require_approval" && readAt(acting, ["approvals"]) === undefined
    ? changeAt(acting, ["approvals"], 1)
    : acting;
}

interface RuleControlProps {
  field: RuleField;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
}

function RuleControl({ field, value, fault, onChange }: RuleControlProps) {
  const { label, kind, words } = field;
  const assets = useAssets().data?.data.map(({ code }) => code);
  // A policy can name an asset that the service had before.
  const options =
    kind === "asset" && assets !== undefined
      ? [...new Set([...assets, ...(value === undefined ? [] : [String(value)])])]
      : field.options;
  const hint = durationNote(field, value) ?? field.hint;
  const shown = { label, fault, ...(hint === undefined ? {} : { hint }) };
  if (kind === "yes")
    return (
      <label className="yes">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked || undefined)}
        />{" "}
        {label} {fault !== undefined && <span className="fault">{fault}</span>}
      </label>
    );
  if (kind === "list" && options !== undefined)
    return (
      <CheckList
        legend={label}
        options={options}
        words={words}
        chosen={Array.isArray(value) ? value.map(String) : []}
        fault={fault}
        onChange={(chosen) => onChange(chosen.length === 0 ? undefined : chosen)}
      />
    );
  if (options !== undefined)
    return (
      <SelectField {...shown} value={String(value ?? "")} onValue={(text) => onChange(text || undefined)}>
        <option value="">{kind === "asset" ? "none" : "any"}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </SelectField>
    );
  return (
    <TextField
      {...shown}
      autoComplete="off"
      inputMode={kind === "number" ? "numeric" : "text"}
      value={Array.isArray(value) ? value.join(", ") : String(value ?? "")}
      onValue={(text) => onChange(readText(kind, text))}
    />
  );
}

/** A number that is not one stays a string, so that nothing typed is lost; the service names the fault. */
function readText(kind: RuleField["kind"], text: string): unknown {
  if (text === "") return undefined;
  if (kind === "number") return /^\d{1,15}$/.test(text) ? Number(text) : text;
  return kind === "list" ? text.split(",").map((item) => item.trimStart()) : text;
}
