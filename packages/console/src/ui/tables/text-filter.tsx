import { useId, useState } from "react";
import { Field } from "../forms/field";

/** What is typed counts when it is confirmed or left. */
export function TextFilter({
  label,
  value,
  fault,
  suggestions,
  onChange,
}: {
  label: string;
  value: string;
  fault?: string | undefined;
  /** What can be chosen instead of typed. */
  suggestions?: readonly string[] | undefined;
  onChange: (value: string) => void;
}) {
  const list = useId();
  const [text, setText] = useState(value);
  const confirm = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <Field label={label} fault={fault}>
      {(props) => (
        <>
          <input
            {...props}
            className="input"
            list={suggestions && list}
            value={text}
            maxLength={200}
            onChange={(event) => setText(event.target.value)}
            onBlur={confirm}
            onKeyDown={(event) => {
              if (event.key === "Enter") confirm();
            }}
          />
          {suggestions !== undefined && (
            <datalist id={list}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

interface TextFiltersProps<Name extends string> {
  names: readonly (readonly [Name, string])[];
  filters: Readonly<Partial<Record<Name, string>>>;
  faults?: Readonly<Partial<Record<Name, string>>>;
  suggestions?: Readonly<Partial<Record<Name, readonly string[]>>>;
  onChange: (name: Name, value: string) => void;
}

/** Several of them; one that the address changes shows its new value. */
export function TextFilters<Name extends string>({
  names,
  filters,
  faults,
  suggestions,
  onChange,
}: TextFiltersProps<Name>) {
  return names.map(([name, label]) => (
    <TextFilter
      key={`${name}=${filters[name] ?? ""}`}
      label={label}
      value={filters[name] ?? ""}
      fault={faults?.[name]}
      suggestions={suggestions?.[name]}
      onChange={(value) => onChange(name, value)}
    />
  ));
}
